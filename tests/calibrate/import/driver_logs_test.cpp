// Logs of other frameworks, and exports of wandb.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "calibrate/import/format_of_log.h"
#include "calibrate/import/import.h"
#include "calibrate/import/verl/event_file.h"
#include "calibrate/import/verl/verl.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/calibrate/import/facts_fixture.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Imported read_as(const std::string& format, const std::string& name, const std::string& text,
                 const Json& setup) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / name, text);
  if (!setup.is_null()) write_text_file(folder.path() / (name + ".setup.json"), format_json(setup));
  return import_runs(format, {folder.path() / name}, published());
}

std::vector<LogTimes> times_of(const std::string& format, const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / name, text);
  return import_times(format, {folder.path() / name});
}

Json setup_with(const Json& config) {
  return {{"gpu", "H100"}, {"gpus", 8}, {"gpus_per_node", 8}, {"config", config}};
}

const Json kSlime{
    {"hf-checkpoint", "Qwen/Qwen3-8B"}, {"rollout-batch-size", 32},         {"n-samples-per-prompt", 8},
    {"global-batch-size", 128},         {"rollout-max-response-len", 4096}, {"rollout-num-gpus-per-engine", 2},
    {"tensor-model-parallel-size", 2},  {"use-dynamic-batch-size", true},   {"max-tokens-per-gpu", 9216}};

// Two processes write the lines of a step. The trainer's wait in its time holds sleep, weights and waking up (371 + 112.8 s
// and these).
TEST(DriverLogs, OfSlimeHaveTheWholeIteration) {
  std::string text;
  for (int step = 0; step < 4; ++step) {
    const std::string number = std::to_string(step);
    text += "\x1b[36m(RolloutManager pid=1)\x1b[0m [2026-06-26 12:27:03] rollout.py:1193 - perf " + number +
            ": {'rollout/response_len/mean': 1000.0, 'rollout/response_len/max': 3000, 'perf/rollout_time': "
            "371.0}\n" +
            "(MegatronTrainRayActor pid=2) train_metric_utils.py:44 - perf " + number +
            ": {'perf/sleep_time': 4.0, 'perf/update_weights_time': 1.0, 'perf/wake_up_time': 2.0, "
            "'perf/ref_log_probs_time': 21.4, 'perf/log_probs_time': 20.1, 'perf/actor_train_time': 71.0, "
            "'perf/train_time': 112.8, 'perf/step_time': 490.0}\n";
  }
  const Imported imported = read_as("slime", "run.log", text, setup_with(kSlime));
  ASSERT_THAT(imported.left_out, IsEmpty());
  ASSERT_THAT(imported.runs.runs, SizeIs(1));
  const sextant::Run& run = imported.runs.runs.front();
  EXPECT_EQ(run.framework, "slime");
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(490.0, 490.0, 490.0));  // without the first step
  EXPECT_EQ(run.tasks.at("actor_generation").median_s(), 371);
  EXPECT_EQ(run.tasks.at("actor_training").median_s(), 71);
  EXPECT_EQ(run.tasks.at("old_log_prob").median_s(), 20.1);
  EXPECT_EQ(run.tasks.at("reference_inference").median_s(), 21.4);
  EXPECT_EQ(run.tasks.at("weight_sync").median_s(), 1);
  const Plan& plan = imported.runs.plan_of(run);
  EXPECT_EQ(plan.tasks.at("actor_training").data_parallel(), 4);
  EXPECT_EQ(plan.tasks.at("actor_training").execution.micro_batch_tokens, 9216);
  EXPECT_EQ(imported.runs.workflow_of(run).mini_batches, 2);  // 256 sequences, 128 in a step
}

// In asynchronous training the next rollout is written before the training of the one before, and its time is no wait.
TEST(DriverLogs, OfAsynchronousSlimeDoNotRestart) {
  std::string text;
  for (int step = 0; step < 5; ++step) {
    text +=
        "perf " + std::to_string(step) + ": {'rollout/response_len/mean': 1000.0, 'perf/rollout_time': 40.0}\n";
    if (step > 0)
      text += "perf " + std::to_string(step - 1) +
              ": {'perf/actor_train_time': 30.0, 'perf/train_wait_time': 11.0, 'perf/save_model_time': 5.0, "
              "'perf/step_time': 46.0}\n";
  }
  const std::vector<LogTimes> times = times_of("slime", "run.log", text);
  ASSERT_THAT(times, SizeIs(1));
  ASSERT_THAT(times.front().bands, SizeIs(1));
  const LogBand& band = times.front().bands.front();
  EXPECT_THAT(band.iteration_s, ElementsAre(41.0, 41.0, 41.0));  // without checkpoints
  EXPECT_FALSE(band.notes.contains("restarts"));
  EXPECT_TRUE(band.times_generation);
}

// Values that slime sends to wandb are numbered by call, and "rollout/step" is the number of their step.
TEST(DriverLogs, OfSlimeInWandbHaveTheirOwnSteps) {
  std::string lines;
  for (int step = 0; step < 3; ++step) {
    const std::string of = "\"rollout/step\": " + std::to_string(step), call = std::to_string(3 * step);
    lines += "{\"_step\": " + call + ", " + of +
             ", \"rollout/response_len/mean\": 1000.0, \"perf/rollout_time\": 40.0}\n{\"_step\": " +
             std::to_string(3 * step + 1) +
             ", \"train/loss\": 0.1}\n{\"_step\": " + std::to_string(3 * step + 2) + ", " + of +
             ", \"perf/actor_train_time\": 20.0, \"perf/step_time\": 70.0}\n";
  }
  const std::vector<LogTimes> times = times_of("slime", "wandb.jsonl", lines);
  ASSERT_THAT(times.front().bands, SizeIs(1));
  EXPECT_THAT(times.front().bands.front().iteration_s, ElementsAre(70.0, 70.0));
  const std::vector<LogTimes> table = times_of(
      "slime", "wandb.csv",
      "_step,rollout/step,rollout/response_len/mean,perf/rollout_time,perf/actor_train_time,perf/step_time\n"
      "0,0,1000,40,,\n1,0,,,20,70\n2,1,1000,40,,\n3,1,,,20,72\n");
  ASSERT_THAT(table.front().bands, SizeIs(1));
  EXPECT_THAT(table.front().bands.front().iteration_s, ElementsAre(72.0));
}

// A step's time holds validation and checkpoints, which are no part of an iteration.
TEST(DriverLogs, LeaveOutValidationAndCheckpoints) {
  std::string nemo, sky;
  for (int step = 1; step <= 4; ++step) {
    const bool saves = step % 2 == 0;
    nemo += "======= Step " + std::to_string(step) + "/4 =======\n" +
            (saves ? "    \xe2\x80\xa2 Total validation time: 30.00s\n" : "") +
            "  \xe2\x80\xa2 Mean Generation Length: 800.0\n  \xe2\x80\xa2 Total step time: " +
            (saves ? "167.00" : "112.00") + "s\n" +
            (saves ? "  \xe2\x80\xa2 checkpointing: 25.00s (1%)\n" : "") +
            "  \xe2\x80\xa2 generation: 58.10s (3%)\n  \xe2\x80\xa2 policy_training: 28.00s (3%)\n";
    sky += "step " + std::to_string(step) + ": {'step': " + std::to_string(step) +
           ", 'generate/avg_num_tokens': 400.0, 'timing/generate': 30.0, 'timing/policy_train': 20.0, " +
           (saves ? "'timing/save_checkpoints': 25.0, 'timing/eval': 10.0, 'timing/step': 91.0}\n"
                  : "'timing/step': 56.0}\n");
  }
  EXPECT_THAT(times_of("nemo-rl", "run.log", nemo).front().bands.front().iteration_s,
              ElementsAre(112.0, 112.0, 112.0));
  EXPECT_THAT(times_of("skyrl", "run.log", sky).front().bands.front().iteration_s,
              ElementsAre(56.0, 56.0, 56.0));
}

// A validation before training has no times: the first step that has them warms up.
TEST(DriverLogs, WarmUpInTheFirstStepWithTimes) {
  std::string text = "step:0 - val-core/acc:0.5\n";
  for (int step = 1; step <= 3; ++step)
    text +=
        "step:" + std::to_string(step) +
        " - timing_s/gen:60.0 - timing_s/update_actor:80.0 - timing_s/step:" + (step == 1 ? "403.0" : "141.0") +
        " - response_length/mean:900.0\n";
  EXPECT_THAT(times_of("verl", "run.log", text).front().bands.front().iteration_s, ElementsAre(141.0, 141.0));
}

// Releases of verl differ in what their step holds: validation, saving, both or neither; the phases tell it.
TEST(DriverLogs, OfVerlHoldAnyHousekeeping) {
  for (const double held_s : {0.0, 30.0, 40.0, 70.0}) {
    std::string text;
    for (int step = 1; step <= 3; ++step)
      text += "step:" + std::to_string(step) +
              " - timing_s/gen:60.0 - timing_s/update_actor:80.0 - timing_s/testing:30.0 - "
              "timing_s/save_checkpoint:40.0"
              " - response_length/mean:900.0 - timing_s/step:" +
              std::to_string(141 + held_s) + "\n";
    EXPECT_THAT(times_of("verl", "run.log", text).front().bands.front().iteration_s, ElementsAre(141.0, 141.0))
        << held_s;
  }
}

// NeMo RL counts the steps of each epoch from 1.
TEST(DriverLogs, OfNemoRlGoOnInTheNextEpoch) {
  const auto block = [](int step, int total) {
    return "===== Step " + std::to_string(step) + "/" + std::to_string(total) +
           " =====\n  \xe2\x80\xa2 Mean Generation Length: 800.0\n  \xe2\x80\xa2 Total step time: " +
           std::to_string(100 + step) +
           ".00s\n  \xe2\x80\xa2 generation: 58.10s\n  \xe2\x80\xa2 policy_training: 28.00s\n";
  };
  for (const std::string heading : {"", "===== Epoch 2/2 =====\n"}) {
    const std::string text = block(1, 2) + block(2, 2) + heading + block(1, 2) + block(2, 2);
    const LogBand band = times_of("nemo-rl", "run.log", text).front().bands.front();
    EXPECT_THAT(band.iteration_s, ElementsAre(102.0, 101.0, 102.0)) << heading;
    EXPECT_FALSE(band.notes.contains("restarts"));
  }
  const std::string resumed = block(1, 9) + block(2, 9) + block(3, 9) + block(2, 9) + block(3, 9);
  EXPECT_EQ(times_of("nemo-rl", "run.log", resumed).front().bands.front().notes.at("restarts"), "1");
}

TEST(DriverLogs, OfNemoRlAreBlocks) {
  std::string text;
  for (int step = 1; step <= 3; ++step) {
    text += "========================= Step " + std::to_string(step) + "/1000000 =========================\n" +
            "\xf0\x9f\x93\x8a Training Results:\n  \xe2\x80\xa2 Loss: 0.1032\n  \xe2\x80\xa2 Mean Generation "
            "Length: 795.2\n" +
            "  \xe2\x80\xa2 Total step time: 112.3s\n  \xe2\x80\xa2 generation: 58.1s (51.7%)\n" +
            "  \xe2\x80\xa2 policy_training: 28.0s (24.9%)\n  \xe2\x80\xa2 policy_and_reference_logprobs: "
            "18.1s (16.1%)\n";
  }
  const Imported imported = read_as("nemo-rl", "run.log", text,
                                    setup_with({{"policy.model_name", "meta-llama/Llama-3.1-8B-Instruct"},
                                                {"grpo.num_prompts_per_step", 64},
                                                {"grpo.num_generations_per_prompt", 32},
                                                {"policy.train_global_batch_size", 512},
                                                {"policy.max_total_sequence_length", 4096},
                                                {"policy.train_micro_batch_size", 4}}));
  ASSERT_THAT(imported.left_out, IsEmpty());
  const sextant::Run& run = imported.runs.runs.front();
  EXPECT_EQ(run.framework, "nemo-rl");
  EXPECT_EQ(run.iteration.median_s(), 112.3);
  EXPECT_EQ(run.tasks.at("old_log_prob+reference_inference").median_s(), 18.1);
  EXPECT_EQ(run.tasks.at("actor_training").median_s(), 28);
  EXPECT_TRUE(imported.runs.workflow_of(run).has_task("reference_inference"));
  EXPECT_EQ(imported.runs.workflow_of(run).mini_batches, 4);
}

TEST(DriverLogs, OfRollHaveTheTimeOfTheStepBefore) {
  std::string text;
  for (int step = 0; step < 5; ++step) {
    text +=
        "metrics_tag: {\"step\": " + std::to_string(step) +
        ", \"metrics\": {\"time/step_total@mean\": " + std::to_string(100 + step) +
        ", \"time/step_generate\": 60.0, \"time/step_train\": 30.0, \"tokens/response_length/mean\": 900.0}}\n";
  }
  const Imported imported = read_as("roll", "run.log", text,
                                    setup_with({{"pretrain", "Qwen/Qwen3-8B"},
                                                {"rollout_batch_size", 64},
                                                {"num_return_sequences_in_group", 8},
                                                {"response_length", 4096},
                                                {"actor_train.training_args.per_device_train_batch_size", 1}}));
  ASSERT_THAT(imported.left_out, IsEmpty());
  const sextant::Run& run = imported.runs.runs.front();
  EXPECT_THAT(run.iteration.samples_s,
              ElementsAre(102.0, 103.0, 104.0));  // of steps 1 to 3; the last is not known
}

TEST(DriverLogs, OfOpenRlhfCountTheirSteps) {
  std::string text;
  for (int step = 1; step <= 3; ++step)
    text +=
        "INFO 08-13 ppo_trainer.py:547] \xe2\x9c\xa8 Global step " + std::to_string(step) +
        ": {'reward': 0.4, 'timing/make_experience': 4.0, 'timing/ppo_train': 5.0, 'timing/generation': 2.97, "
        "'timing/step_total': 12.19, 'rollout/response_length_mean': 300.0, 'kl': None}\n";
  const Imported imported = read_as("openrlhf", "run.log", text,
                                    setup_with({{"actor.model_name_or_path", "Qwen/Qwen3-8B"},
                                                {"rollout.batch_size", 128},
                                                {"rollout.n_samples_per_prompt", 8},
                                                {"rollout.max_new_tokens", 1024},
                                                {"vllm.tensor_parallel_size", 2},
                                                {"train.batch_size", 256},
                                                {"train.micro_batch_size", 4}}));
  ASSERT_THAT(imported.left_out, IsEmpty());
  EXPECT_THAT(imported.runs.runs.front().iteration.median_s(), DoubleEq(12.19));
  EXPECT_EQ(imported.runs.runs.front().tasks.at("actor_generation").median_s(), 2.97);
}

TEST(DriverLogs, SayWhatIsMissing) {
  EXPECT_THAT(read_as("slime", "run.log", "perf 1: {'perf/step_time': 1}\n", nullptr).left_out.front().reason,
              HasSubstr("not stated: the GPU"));
  EXPECT_THAT(read_as("slime", "run.log", "nothing here {'\n{\"\n", nullptr).left_out.front().reason,
              HasSubstr("no values by step"));
  EXPECT_THAT(
      read_as("slime", "run.log", "perf 1: {'perf/step_time': 1}\n", setup_with({})).left_out.front().reason,
      HasSubstr("not stated: the model, the batch"));
}

// ---- AReaL, TRL and SkyRL ----

// AReaL prints a table of four columns below each step, and no time of the whole.
TEST(DriverLogs, OfArealAreTables) {
  std::string text;
  for (int step = 1; step <= 4; ++step) {
    text +=
        "(AReaL) 20260822-10:11:12.345 StatsLogger INFO: Epoch 1/10 Step 3/116 Train step " +
        std::to_string(step) +
        "/1160 done.\n(AReaL) 20260822-10:11:12.346 StatsLogger INFO: Stats (1/1):\n"
        "\xe2\x95\x92\xe2\x95\x90\xe2\x95\xa4\xe2\x95\x90\xe2\x95\x95\n"
        "\xe2\x94\x82 timeperf/rollout \xe2\x94\x82 4.1000e+01 \xe2\x94\x82 timeperf/train_step \xe2\x94\x82 "
        "3.1000e+01 \xe2\x94\x82\n"
        "\xe2\x94\x82 timeperf/update_weights \xe2\x94\x82 2.0000e+00 \xe2\x94\x82 timeperf/recompute_logp "
        "\xe2\x94\x82 6.0000e+00 \xe2\x94\x82\n"
        "\xe2\x94\x82 timeperf/rollout_offload \xe2\x94\x82 3.0000e+00 \xe2\x94\x82 timeperf/actor_onload "
        "\xe2\x94\x82 "
        "4.0000e+00 \xe2\x94\x82\n"
        "\xe2\x94\x82 ppo_actor/seq_len/avg \xe2\x94\x82 1.1000e+03 \xe2\x94\x82 ppo_actor/prompt_len/avg "
        "\xe2\x94\x82 1.0000e+02 \xe2\x94\x82\n";
  }
  const std::vector<LogTimes> times = times_of("areal", "run.log", text);
  ASSERT_THAT(times.front().bands, SizeIs(1));
  const LogBand& band = times.front().bands.front();
  EXPECT_THAT(band.iteration_s, ElementsAre(87, 87, 87));  // without the first step
  EXPECT_THAT(band.timers.at("actor_generation"), ElementsAre(41, 41, 41));
  EXPECT_THAT(band.timers.at("actor_training"), ElementsAre(31, 31, 31));
  EXPECT_EQ(band.lengths.response, 1000);
  EXPECT_EQ(band.lengths.prompt, 100);
}

// TRL prints a dictionary without its step's number, with texts for numbers since Transformers 5.
TEST(DriverLogs, OfTrlHaveOnlyTheWholeStep) {
  std::string text;
  for (int step = 0; step < 3; ++step)
    text += "{'loss': '0.01', 'num_tokens': 81920.0, 'completions/mean_length': 210.4, 'step_time': '12.3'}\n";
  const Json state{{"log_history",
                    {{{"step", 1}, {"step_time", 20.0}, {"completions/mean_length", 210.4}},
                     {{"step", 2}, {"step_time", 12.3}, {"completions/mean_length", 210.4}},
                     {{"step", 3}, {"step_time", 12.3}, {"completions/mean_length", 210.4}},
                     {{"step", 3}, {"train_runtime", 30.0}}}}};
  for (const auto& [name, log] :
       {std::pair<std::string, std::string>{"run.log", text}, {"trainer_state.json", state.dump()}}) {
    const std::vector<LogTimes> times = times_of("trl", name, log);
    ASSERT_THAT(times.front().bands, SizeIs(1)) << name;
    EXPECT_THAT(times.front().bands.front().iteration_s, ElementsAre(12.3, 12.3)) << name;
    EXPECT_THAT(times.front().bands.front().timers, IsEmpty()) << name;
  }
}

// SkyRL prints a dictionary over many lines, each behind Ray's prefix.
TEST(DriverLogs, OfSkyRlGoOverManyLines) {
  std::string text;
  for (int step = 1; step <= 3; ++step)
    text += "\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m INFO | Step " + std::to_string(step) +
            ": \n\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m {'generate/avg_num_tokens': '400.0000',\n"
            "\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'timing/generate': '30.0000',\n"
            "\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'timing/policy_train': '20.0000',\n"
            "\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'timing/fwd_logprobs_values_reward': '5.0000',\n"
            "\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'timing/step': '56.0000'}\n";
  const std::vector<LogTimes> times = times_of("skyrl", "run.log", text);
  ASSERT_THAT(times.front().bands, SizeIs(1));
  EXPECT_THAT(times.front().bands.front().iteration_s, ElementsAre(56, 56));
  EXPECT_THAT(times.front().bands.front().timers.at("old_log_prob+reference_inference"), ElementsAre(5, 5));
}

// ---- prime-rl ----

// Trainer and orchestrator append to files of their own, which one after the other are one log.
TEST(DriverLogs, OfPrimeRlAreLinesOfJson) {
  std::string text;
  for (int step = 1; step <= 4; ++step) {
    const Json perf{{"step", step}, {"time", 1.7e9}, {"perf/throughput", 30000.0}, {"perf/mfu", 31.5}};
    const Json times{{"step", step},          {"time", 1.7e9},
                     {"time/step", 60.0},     {"time/wait_for_batch", 12.0},
                     {"time/load_data", 0.1}, {"time/broadcast_weights", 3.0},
                     {"time/save_ckpt", 0.0}, {"time/forward_backward", 44.0}};
    text += perf.dump() + "\n" + times.dump() + "\n";
  }
  for (int step = 1; step <= 4; ++step) {
    const Json rollouts{{"step", step},
                        {"time/step", 60.0},
                        {"train/agg/all/num_input_tokens/mean", 150.0},
                        {"train/agg/all/num_output_tokens/mean", 1000.0},
                        {"train/agg/all/num_output_tokens/max", 4000.0}};
    text += rollouts.dump() + "\n";
  }
  const std::vector<LogTimes> times = times_of("prime-rl", "metrics.jsonl", text);
  ASSERT_THAT(times.front().bands, SizeIs(1));
  const LogBand& band = times.front().bands.front();
  EXPECT_TRUE(times.front().is_asynchronous);
  EXPECT_THAT(band.iteration_s, ::testing::Each(60));
  EXPECT_THAT(band.timers.at("actor_generation"), ::testing::Each(12));  // a wait
  EXPECT_THAT(band.timers.at("actor_training"), ::testing::Each(44));
  EXPECT_THAT(band.timers.at("weight_sync"), ::testing::Each(3));
  EXPECT_EQ(band.lengths.response, 1000);
  EXPECT_EQ(band.lengths.longest, 4000);
  EXPECT_EQ(band.lengths.prompt, 150);
}

std::vector<LogTimes> prime_console(const std::string& text, const Json& setup) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "trainer.log";
  write_text_file(file, text);
  if (!setup.is_null()) write_text_file(file.string() + ".setup.json", format_json(setup));
  return import_times("prime-rl", {file});
}

TEST(DriverLogs, OfPrimeRlsConsoleHaveWholeSteps) {
  std::string text = "\x1b[2m16:43:01\x1b[0m\x1b[1m    INFO\x1b[0m Starting training loop (max_steps=20)\n";
  const std::vector<std::string> times{"1m 30s", "58.5s", "1m 2s", "950ms", "1h 1m"};
  for (std::size_t i = 0; i < times.size(); ++i)
    text +=
        "\x1b[2m16:43:08\x1b[0m\x1b[32m\x1b[1m SUCCESS\x1b[0m \x1b[22mStep " + std::to_string(i + 1) + " |  " +
        times[i] +
        " | Loss 0.0012 | Entropy 0.3 | LR 1.00e-06 | Throughput 31000 tokens/s | MFU 30.1% | Peak Mem. 61.2 "
        "GiB\n";
  EXPECT_THAT(prime_console(text, nullptr).front().left_out.front().reason,
              AllOf(HasSubstr("no step has the mean response length"), HasSubstr("response_tokens")));
  const std::vector<LogTimes> read = prime_console(text, {{"response_tokens", 900}, {"prompt_tokens", 100}});
  ASSERT_THAT(read.front().bands, SizeIs(1));
  const LogBand& band = read.front().bands.front();
  EXPECT_THAT(band.iteration_s, ElementsAre(58.5, 62, DoubleEq(0.95), 3660));  // without the first
  EXPECT_THAT(band.timers, IsEmpty());
  EXPECT_EQ(band.lengths.response, 900);
  EXPECT_EQ(band.lengths.prompt, 100);
  EXPECT_EQ(band.notes.count("warnings"), 0U);
}

// Until 0.5 the orchestrator's lines have the mean length of prompt and response.
TEST(DriverLogs, OfOlderPrimeRlHaveLengthsOfSamples) {
  std::string text;
  for (int step = 5; step <= 7; ++step)
    text +=
        "16:43:08 SUCCESS Step " + std::to_string(step) +
        " | Time: 5.23s | Reward: 0.3498 | Throughput: 3500.7 tokens/s | Seq. Length: 1100.0 tokens/sample | "
        "Async Level: 1 | Max. Off-Policy Level: 1\n";
  const std::vector<LogTimes> read = prime_console(text, {{"prompt_tokens", 100}});
  ASSERT_THAT(read.front().bands, SizeIs(1));
  EXPECT_THAT(read.front().bands.front().iteration_s, ::testing::Each(5.23));
  EXPECT_EQ(read.front().bands.front().lengths.response, 1000);
}

TEST(DriverLogs, OfPrimeRlMayBeLinesOfJsonWithMessages) {
  std::string text;
  for (int step = 1; step <= 3; ++step)
    text += Json{{"timestamp", "t"},
                 {"level", "SUCCESS"},
                 {"message", "Step " + std::to_string(step) + " |    7.5s | Loss 0.1 | Entropy 0.3"},
                 {"line", 684}}
                .dump() +
            "\n";
  const std::vector<LogTimes> read = prime_console(text, {{"response_tokens", 900}});
  ASSERT_THAT(read.front().bands, SizeIs(1));
  EXPECT_THAT(read.front().bands.front().iteration_s, ElementsAre(7.5, 7.5));
}

TEST(StepInLine, OtherLinesAreNone) {
  for (const char* line :
       {"Step 3 | Loss 0.1", "Step 3: | 5s | Loss", "Micro Step 3/8 | Loss 0.1", "Step 3 | 5x | Loss",
        "Step 3 | nan | Loss", "Step 3 | 5s", "Step -3 | 5s | Loss", "Step 99999999999 | 5s | Loss",
        "Step | 5s | Loss", "Step 3 |", "LastStep 3 | 5s | Loss"})
    EXPECT_FALSE(step_in_line(line)) << line;
}

// ---- TensorBoard ----

template <typename Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string field(int number, const std::string& content) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(content.size()) + content;
}

std::string record(const std::string& event) {
  return bytes_of(std::uint64_t{event.size()}) + "crc1" + event + "crc2";
}

// A value of the first form of TensorBoard (a float), or of the second (a tensor).
std::string scalar(const std::string& tag, float value, bool is_tensor) {
  const std::string tensor = "\x08\x01" + field(4, bytes_of(value));
  return field(1, field(1, tag) + (is_tensor ? field(8, tensor) : "\x15" + bytes_of(value)));
}

std::string events(bool is_tensor) {
  std::string file = record("\x09" + bytes_of(1.5) + field(3, "brain.Event:2"));
  for (int step = 1; step <= 3; ++step) {
    const std::string head = "\x09" + bytes_of(1.5) + "\x10" + std::string(1, static_cast<char>(step));
    for (const auto& [tag, value] : std::map<std::string, float>{{"response_length/mean", 200},
                                                                 {"timing_s/gen", 10},
                                                                 {"timing_s/update_actor", 7},
                                                                 {"timing_s/step", 20}})
      file += record(head + field(5, scalar(tag, value, is_tensor)));
  }
  return file;
}

TEST(EventFiles, AreReadWhateverTheirSuffix) {
  for (const bool is_tensor : {false, true}) {
    const std::vector<LogTimes> times =
        times_of("verl", "events.out.tfevents.1700000000.host.1.0", events(is_tensor));
    ASSERT_THAT(times.front().bands, SizeIs(1)) << is_tensor;
    EXPECT_THAT(times.front().bands.front().iteration_s, ElementsAre(20, 20)) << is_tensor;
  }
}

// A process that was killed leaves half a record, and a disk wrong bytes.
TEST(EventFiles, SurviveTheirEnd) {
  const std::string file = events(false);
  for (std::size_t size = 0; size <= file.size(); ++size)
    EXPECT_LE(parse_event_file(std::string_view(file).substr(0, size)).steps.size(), 3U);
  for (std::size_t at = 40; at < file.size(); ++at) {
    std::string broken = file;
    broken[at] = '\xff';
    EXPECT_LE(parse_event_file(broken).steps.size(), 12U);
  }
  EXPECT_THAT(parse_event_file(std::string_view(file).substr(0, file.size() - 5)).steps, SizeIs(3));
}

// ---- wandb ----

const Json kVerl{{"data.train_batch_size", 128},
                 {"data.max_response_length", 3072},
                 {"actor_rollout_ref.model.path", "Qwen/Qwen3-8B"},
                 {"actor_rollout_ref.rollout.n", 8},
                 {"actor_rollout_ref.rollout.tensor_model_parallel_size", 2},
                 {"actor_rollout_ref.actor.ppo_mini_batch_size", 64},
                 {"actor_rollout_ref.actor.use_dynamic_bsz", true}};

TEST(WandbExports, OfHistoryAreReadAsTheConsoleLog) {
  const std::string values = R"("timing_s/gen": 80.1, "timing_s/old_log_prob": 9.1, "timing_s/ref": 9.0,
 "timing_s/update_actor": 40.2, "timing_s/step": 140.0, "response_length/mean": 900.1, "prompt_length/mean": 180.0})";
  for (const char* step : {"_step", "step", "global_step"}) {
    std::string text;
    for (int i = 1; i <= 4; ++i) {
      std::string line =
          "{\"" + std::string(step) + "\": " + std::to_string(i) + ", \"_runtime\": 100.1, " + values;
      line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
      text += line + "\n";
    }
    const Imported imported = read_as("verl", "history.jsonl", text, setup_with(kVerl));
    ASSERT_THAT(imported.left_out, IsEmpty()) << step;
    EXPECT_EQ(imported.runs.runs.front().iteration.median_s(), 140) << step;
    EXPECT_EQ(imported.runs.runs.front().iteration.samples_s.size(), 3U) << step;
  }
}

TEST(WandbExports, OfPanelsAreTables) {
  const std::string text =
      "\"Step\",\"q3 - timing_s/gen\",\"q3 - timing_s/gen__MIN\",\"q3 - timing_s/step\",\"q3 - "
      "timing_s/update_actor\","
      "\"q3 - response_length/mean\",\"other - timing_s/gen\"\n"
      "1,80.1,1,150.0,40.2,900,7\n2,79.1,1,140.0,40.1,900,7\n3,79.1,1,141.0,40.1,905,\n";
  const Imported imported = read_as("verl", "panel.csv", text, setup_with(kVerl));
  ASSERT_THAT(imported.left_out, SizeIs(1));
  EXPECT_EQ(imported.left_out.front().record, "panel, other");
  EXPECT_THAT(imported.left_out.front().reason, HasSubstr("several runs"));
  ASSERT_THAT(imported.runs.runs, SizeIs(1));
  EXPECT_THAT(imported.runs.runs.front().iteration.samples_s, ElementsAre(140.0, 141.0));
}

// wandb exports a panel at a time, and most panels have one metric.
TEST(WandbExports, OfOneMetricEachAreOneLogInAFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path panels = folder.path() / "q3";
  const auto write = [&](const std::string& name, const std::string& metric, const std::string& values) {
    write_text_file(panels / name, "\"Step\",\"q3 - " + metric + "\",\"q3 - " + metric + "__MIN\"\n" + values);
  };
  write("gen.csv", "timing_s/gen", "1,80.1,1\n2,79.1,1\n3,79.1,1\n");
  write("step.csv", "timing_s/step", "1,150.0,1\n2,140.0,1\n3,141.0,1\n");
  write("actor.csv", "timing_s/update_actor", "1,40.2,1\n2,40.1,1\n3,40.1,1\n");
  write("length.csv", "response_length/mean", "1,900,1\n2,900,1\n3,905,1\n");
  EXPECT_EQ(format_of_log(panels), "verl");
  const std::vector<LogTimes> times = read_log_times({panels}, nullptr, {});
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_THAT(times.front().left_out, IsEmpty());
  ASSERT_THAT(times.front().bands, SizeIs(1));
  EXPECT_EQ(times.front().bands.front().name, "q3");
  EXPECT_THAT(times.front().bands.front().iteration_s, ElementsAre(140.0, 141.0));
  const std::vector<LogTimes> alone = read_log_times({panels / "gen.csv"}, nullptr, {});
  EXPECT_THAT(alone.front().left_out.front().reason, HasSubstr("put all of them into a folder"));
}

TEST(WandbExports, WithoutTimesAreLeftOut) {
  const Imported imported =
      read_as("verl", "panel.csv", "\"Step\",\"q3 - timing_s/gen\"\n1,80.1\n", setup_with(kVerl));
  EXPECT_THAT(
      imported.left_out.front().reason,
      HasSubstr("no step has the mean response length, the time of the whole step, the time of training"));
  EXPECT_THAT(read_as("verl", "t.csv", "a,b\n1,2\n", setup_with(kVerl)).left_out.front().reason,
              HasSubstr("no values by step"));
}

}  // namespace
}  // namespace sextant
