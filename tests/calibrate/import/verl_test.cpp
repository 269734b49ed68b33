#include "calibrate/import/verl/verl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/calibrate/import/facts_fixture.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

const Imported& carried() {
  static const Imported imported = [] {
    std::vector<std::filesystem::path> files;
    for (const char* name :
         {"deepseek7b-grpo-mi300x", "deepseek7b-ppo-mi300x", "qwen2-7b-fsdp", "qwen2-7b-megatron",
          "qwen2.5-0.5b-ppo-1gpu", "qwen2.5-3b-reinforce-a40", "qwen2.5-7b-ppo-2x8"}) {
      files.emplace_back(std::string(SEXTANT_SOURCE_DIR "/data/public/verl/") + name + ".json");
    }
    return read_verl(files, published());
  }();
  return imported;
}

const sextant::Run& run_named(const Imported& imported, const std::string& name) {
  for (const sextant::Run& run : imported.runs.runs) {
    if (run.name == name) return run;
  }
  throw std::out_of_range("no run is named " + name);
}

Json usual_setup() {
  return {{"gpu", "H100"},
          {"gpus", 8},
          {"config",
           {{"model", "Qwen/Qwen2.5-7B-Instruct"},
            {"data.train_batch_size", 64},
            {"data.max_response_length", 1024},
            {"actor_rollout_ref.actor.ppo_mini_batch_size", 16},
            {"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", 4},
            {"actor_rollout_ref.rollout.n", 4},
            {"actor_rollout_ref.rollout.tensor_model_parallel_size", 2}}}};
}

Imported read_log(const std::string& text, const Json& setup, const std::string& name = "run.log") {
  const TemporaryFolder folder;
  write_text_file(folder.path() / name, text);
  if (!setup.is_null()) write_text_file(folder.path() / (name + ".setup.json"), format_json(setup));
  return read_verl({folder.path() / name}, published());
}

std::string line(int step, double response, const std::string& more = "") {
  return "step:" + std::to_string(step) + " - response_length/mean:" + std::to_string(response) +
         " - timing_s/gen:10.0 - timing_s/old_log_prob:2.0 - timing_s/update_actor:7.5 - timing_s/step:20.0" +
         more + "\n";
}

Run only_run(const Imported& imported) {
  EXPECT_EQ(imported.runs.runs.size(), 1U);
  return imported.runs.runs.front();
}

TEST(VerlTest, AccountsForEveryCarriedLog) {
  std::vector<std::string> names;
  for (const auto& run : carried().runs.runs) names.push_back(run.name);
  EXPECT_EQ(names.size(), 17U);
  EXPECT_THAT(names, Contains("qwen2-7b-fsdp, responses of 200 to 237 tokens"));
  ASSERT_EQ(carried().left_out.size(), 1U);
  EXPECT_EQ(carried().left_out.front().reason, "fewer than three steps have such responses");
  const Json json = carried().runs.to_json();
  EXPECT_EQ(Runs::parse(JsonView(json)), carried().runs);
}

Imported read_example(const std::string& name) {
  return read_verl({SEXTANT_SOURCE_DIR "/tests/data/verl/" + name}, published());
}

// "GH200 (stated)"
TEST(VerlTest, FindsTheOneGpuThatATextNames) {
  const Imported imported = read_example("gpu_in_text.json");
  const sextant::Run run = only_run(imported);
  EXPECT_TRUE(imported.runs.cluster_of(run).device_types().contains("GH200-96GB"));
  EXPECT_EQ(run.notes.at("gpu"), "GH200 (stated)");
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(20.0, 20.5));
}

// "A100 or A800 (SXM), 80 GB"
TEST(VerlTest, LeavesALogOutWhoseTextNamesSeveralGpus) {
  const Imported imported = read_example("gpus_in_text.json");
  EXPECT_TRUE(imported.runs.runs.empty());
  ASSERT_EQ(imported.left_out.size(), 1U);
  EXPECT_EQ(imported.left_out[0].reason,
            "\"A100 or A800 (SXM), 80 GB\" names several GPUs: A100-SXM-80GB, A800-SXM-80GB");
}

// A summary among the rows is no sample, and the files beside it are read.
TEST(VerlTest, ARowThatIsNotOfOneStepIsNotTaken) {
  const std::string text = read_text_file(SEXTANT_SOURCE_DIR "/tests/data/verl/gpu_in_text.json");
  const TemporaryFolder folder;
  Json log = parse_json(text);
  log["per_step"][2]["step"] = "mean of 2..5";
  write_text_file(folder.path() / "summary.json", format_json(log));
  log["per_step"][1]["step"] = nullptr;
  log["per_step"][0]["step"] = nullptr;
  write_text_file(folder.path() / "only.json", format_json(log));
  const Imported imported =
      read_verl({folder.path() / "only.json", folder.path() / "summary.json"}, published());
  EXPECT_THAT(only_run(imported).iteration.samples_s, ElementsAre(20.0));
  ASSERT_EQ(imported.left_out.size(), 1U);
  EXPECT_EQ(imported.left_out[0].reason, "it has only values over several steps, and none by step");
}

TEST(VerlTest, ReadsAPpoLogWithItsPlan) {
  const sextant::Run& run = run_named(carried(), "qwen2.5-0.5b-ppo-1gpu");
  EXPECT_EQ(run.framework, "verl-fsdp-v0");  // version 0.4
  EXPECT_EQ(run.source, RunSource::import);
  EXPECT_THAT(run.tasks,
              UnorderedElementsAre(Key("actor_generation+weight_sync"), Key("old_log_prob"),
                                   Key("critic_inference"), Key("critic_training"), Key("actor_training")));
  const Workflow& workflow = carried().runs.workflow_of(run);
  EXPECT_EQ(workflow.prompts, 256);
  EXPECT_EQ(workflow.mini_batches, 4);
  const TaskPlan& training = carried().runs.plan_of(run).tasks.at("actor_training");
  EXPECT_FALSE(training.execution.packed);  // use_remove_padding is off
  EXPECT_EQ(training.micro_batch_sequences, 4);
}

// Its first step holds validation of 25.471 s and a checkpoint of 23.43 s.
TEST(VerlTest, TakesHousekeepingOffAStepThatHoldsIt) {
  const sextant::Run& run = run_named(carried(), "qwen2.5-0.5b-ppo-1gpu");
  EXPECT_NEAR(run.iteration.samples_s.front(), 101.887 - 25.471 - 23.43, 1e-9);
}

TEST(VerlTest, LeavesHousekeepingBesideAStepThatDoesNotHoldIt) {
  const std::string text = line(2, 200, " - timing_s/testing:30.0") + line(3, 200);
  EXPECT_THAT(only_run(read_log(text, usual_setup())).iteration.samples_s, ElementsAre(20.0));
}

// The first version computes log-probabilities inside generation.
TEST(VerlTest, NamesGenerationByWhatItsTimerHolds) {
  EXPECT_THAT(run_named(carried(), "qwen2.5-3b-reinforce-a40").tasks,
              Contains(Key("actor_generation+old_log_prob+weight_sync")));
  const std::string text = line(1, 200) + line(2, 200, " - timing_s/update_weights:0.25");
  EXPECT_THAT(only_run(read_log(text, usual_setup())).tasks,
              UnorderedElementsAre(Key("actor_generation"), Key("old_log_prob"), Key("actor_training"),
                                   Key("weight_sync")));
}

TEST(VerlTest, MakesARunOfEachBandOfResponseLengths) {
  std::string text = line(1, 100);
  for (int step = 2; step < 8; ++step) text += line(step, step < 5 ? 200 + step : 400 + step);
  const Imported imported = read_log(text, usual_setup());
  ASSERT_EQ(imported.runs.runs.size(), 2U);
  EXPECT_EQ(imported.runs.runs[0].name, "run, responses of 202 to 204 tokens");
  EXPECT_EQ(imported.runs.runs[0].iteration.samples_s.size(), 3U);
  EXPECT_EQ(imported.runs.runs[1].name, "run, responses of 405 to 407 tokens");
  EXPECT_NEAR(imported.runs.workflow_of(imported.runs.runs[1]).response_tokens.mean_tokens(), 406, 1e-3);
}

TEST(VerlTest, KeepsPhasesOfForksAsANote) {
  const std::string text = line(1, 200) + line(2, 200, " - timing_s/teacher_forward:3.5");
  const sextant::Run run = only_run(read_log(text, usual_setup()));
  EXPECT_THAT(run.notes.at("other times"), HasSubstr("teacher_forward 3.5 s"));
  EXPECT_THAT(run.notes.at("warnings"), HasSubstr("1 of 1 steps"));
}

TEST(VerlTest, TakesThePlanFromTheLogsOwnConfiguration) {
  const std::string text =
      "{'actor_rollout_ref': {'actor': {'strategy': 'megatron', 'megatron': {'tensor_model_parallel_size': 2,\n"
      "   'pipeline_model_parallel_size': 2}, 'ppo_mini_batch_size': 64, 'ppo_micro_batch_size_per_gpu': 2},\n"
      " 'model': {'path': '/models/Qwen2.5-7B/', 'enable_gradient_checkpointing': True},\n"
      " 'rollout': {'n': 2, 'tensor_model_parallel_size': 4, 'enforce_eager': False}},\n"
      " 'data': {'train_batch_size': 64, 'max_response_length': 1024},\n"
      " 'trainer': {'n_gpus_per_node': 8, 'nnodes': 2}}\n" +
      line(1, 200) + line(2, 200);
  const Json setup = {{"gpu", "A100"}};
  const Imported imported = read_log(text, setup);
  const sextant::Run run = only_run(imported);
  EXPECT_EQ(run.framework, "verl-megatron");
  const Plan& plan = imported.runs.plan_of(run);
  EXPECT_EQ(plan.tasks.at("actor_training").data_parallel(), 4);
  EXPECT_EQ(plan.tasks.at("actor_training").recompute, Recompute::full);
  EXPECT_EQ(plan.tasks.at("actor_generation").data_parallel(), 4);
  EXPECT_TRUE(plan.tasks.at("actor_generation").execution.cuda_graphs);
  EXPECT_EQ(imported.runs.cluster_of(run).device_count(), 16);
}

TEST(VerlTest, ReadsJsonLines) {
  const std::string row =
      R"("data": {"response_length/mean": 200, "timing_s/gen": 9, "timing_s/old_log_prob": 1,)"
      R"( "timing_s/update_actor": 5, "timing_s/step": 15}})";
  const std::string text = R"({"step": 1, )" + row + "\n" + R"({"step": 2, )" + row + "\n";
  EXPECT_THAT(only_run(read_log(text, usual_setup(), "run.jsonl")).iteration.samples_s, ElementsAre(15));
}

TEST(VerlTest, SaysWhatALogLacks) {
  const auto reason = [](const std::string& text, const Json& setup) {
    const Imported imported = read_log(text, setup);
    EXPECT_TRUE(imported.runs.runs.empty());
    return imported.left_out.empty() ? "" : imported.left_out.front().reason;
  };
  EXPECT_EQ(reason("nothing here\n", usual_setup()), "it has no values by step");
  EXPECT_EQ(reason(line(1, 200), Json()),
            "not stated: the GPU, the number of GPUs, the model, the batch, the limit of responses, the "
            "engine's tensor "
            "parallelism (--gpus adds GPUs, --config the configuration)");
  Json setup = usual_setup();
  setup["gpu"] = "MetaX C550";
  EXPECT_THAT(reason(line(1, 200), setup), HasSubstr("neither memory bandwidth nor links"));
  setup = usual_setup();
  setup.erase("gpus");
  EXPECT_EQ(reason(line(1, 200), setup), "not stated: the number of GPUs (--gpus adds GPUs)");
  setup = usual_setup();
  setup["config"].erase("data.train_batch_size");
  EXPECT_EQ(reason(line(1, 200), setup), "not stated: the batch (--config the configuration)");
  setup["config"] = usual_setup()["config"];
  setup["gpus"] = 9;
  EXPECT_THAT(reason(line(1, 200), setup), HasSubstr("do not make up its 9 GPUs"));
  EXPECT_THAT(reason(line(1, 200, " - timing_s/wait_prev_gen:3"), usual_setup()),
              HasSubstr("its gen is a wait"));
  EXPECT_THAT(reason("step:1 - timing_s/step:20\n", usual_setup()),
              HasSubstr("no step has the mean response length, the time of generation, the time of training"));
}

// A collection of four steps of 20 s, as rows.
Json collection() {
  Json all = {{"source", {{"url", "example"}}},
              {"hardware", {{"gpu", "H100"}, {"gpus", 8}}},
              {"config_stated", usual_setup()["config"]},
              {"per_step", Json::array()}};
  for (int step = 2; step < 6; ++step) {
    all["per_step"].push_back({{"step", step},
                               {"metrics",
                                {{"response_length/mean", 200},
                                 {"timing_s/gen", 10},
                                 {"timing_s/old_log_prob", 2},
                                 {"timing_s/update_actor", 7.5},
                                 {"timing_s/step", 20}}}});
  }
  return all;
}

// The rest of the log is as good as before.
TEST(VerlTest, LeavesAnOddStepOutWithItsReason) {
  Json rows = collection();
  rows["per_step"][1]["metrics"]["timing_s/gen"] = "ten";
  rows["per_step"][2]["step"] = -3;
  const Imported of_rows = read_log(rows.dump(), Json(), "run.json");
  EXPECT_EQ(only_run(of_rows).iteration.samples_s.size(), 2U);
  ASSERT_EQ(of_rows.left_out.size(), 2U);
  EXPECT_EQ(of_rows.left_out[0].record, "run, row 2");
  EXPECT_THAT(of_rows.left_out[0].reason, HasSubstr("/per_step/1/metrics/timing_s~1gen: expected a number"));
  EXPECT_EQ(of_rows.left_out[1].record, "run, row 3");

  Json columns = collection();
  columns["per_step"] = {{"step", {2, 3, 4}},
                         {"response_length/mean", {200, 200, 200}},
                         {"timing_s/gen", {10, true, 10}},
                         {"timing_s/update_actor", {7.5, 7.5, 7.5}},
                         {"timing_s/step", {20, 20, 20}}};
  const Imported of_columns = read_log(columns.dump(), Json(), "run.json");
  EXPECT_EQ(only_run(of_columns).iteration.samples_s.size(), 2U);
  ASSERT_EQ(of_columns.left_out.size(), 1U);
  EXPECT_EQ(of_columns.left_out[0].record, "run, value 2 of each column");
}

// If the same log is given twice, the second is left out.
TEST(VerlTest, LeavesOutARunWhoseNameIsTaken) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "run.json", collection().dump());
  const Imported imported = read_verl({folder.path() / "run.json", folder.path() / "run.json"}, published());
  EXPECT_EQ(imported.runs.runs.size(), 1U);
  ASSERT_EQ(imported.left_out.size(), 1U);
  EXPECT_THAT(imported.left_out[0].reason, HasSubstr("another run has this name"));
}

TEST(VerlTest, RefusesASideFileThatIsNotOfTheForm) {
  Json setup = usual_setup();
  setup["gpu_count"] = 8;
  EXPECT_THAT(refusal_of([&] { (void)read_log(line(1, 200), setup); }), HasSubstr("gpu_count"));
}

// Whatever a log holds, it becomes runs or is left out with a reason.
TEST(VerlTest, SurvivesGarbage) {
  constexpr int kTrials = 40;  // each is written to a disk
  std::string clean;
  for (int step = 1; step < 6; ++step) clean += line(step, 200 + 10 * step, " - response_length/max:900");
  std::mt19937 random(7);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string text = clean;
    for (int i = 0; i < 20; ++i) text[random() % text.size()] = static_cast<char>(random() % 127 + 1);
    const Imported imported = read_log(text, usual_setup());
    EXPECT_FALSE(imported.runs.runs.empty() && imported.left_out.empty()) << text;
  }
}

}  // namespace
}  // namespace sextant
