// Logs of other frameworks, and exports of wandb.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/import/import.h"
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

Json setup_with(const Json& config) {
  return {{"gpu", "H100"}, {"gpus", 8}, {"gpus_per_node", 8}, {"config", config}};
}

const Json kSlime{
    {"hf-checkpoint", "Qwen/Qwen3-8B"}, {"rollout-batch-size", 32},         {"n-samples-per-prompt", 8},
    {"global-batch-size", 128},         {"rollout-max-response-len", 4096}, {"rollout-num-gpus-per-engine", 2},
    {"tensor-model-parallel-size", 2},  {"use-dynamic-batch-size", true},   {"max-tokens-per-gpu", 9216}};

// Two processes write the lines of a step; the step's own time leaves out what surrounds training.
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
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(497.0, 497.0, 497.0));  // without the first step
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

TEST(WandbExports, WithoutTimesAreLeftOut) {
  const Imported imported =
      read_as("verl", "panel.csv", "\"Step\",\"q3 - timing_s/gen\"\n1,80.1\n", setup_with(kVerl));
  EXPECT_THAT(imported.left_out.front().reason, HasSubstr("no step has the times"));
  EXPECT_THAT(read_as("verl", "t.csv", "a,b\n1,2\n", setup_with(kVerl)).left_out.front().reason,
              HasSubstr("no values by step"));
}

}  // namespace
}  // namespace sextant
