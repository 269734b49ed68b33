// Logs with their configurations, without a document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/document.h"
#include "sextant/run.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPaste = SEXTANT_SOURCE_DIR "/tests/data/field/07-verl-paste/run.log";

Runs imported(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  std::vector<std::string> all{"import"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"--out", (folder.path() / "runs.json").string()});
  const Printed outcome = run_sextant(all);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.exit_code == 0 ? load_document<Runs>(folder.path() / "runs.json").content : Runs{};
}

// The first line of the log is the command that started it.
TEST(CheckLog, TakesThePlanFromTheLaunchInTheLog) {
  const Runs runs = imported({"verl", kPaste, "--gpus", "GH200"});
  ASSERT_EQ(runs.runs.size(), 1U);
  const sextant::Run& run = runs.runs.front();
  const Workflow& workflow = runs.workflow_of(run);
  EXPECT_EQ(workflow.prompts, 1024);
  EXPECT_EQ(workflow.responses_per_prompt, 5);
  EXPECT_EQ(workflow.mini_batches, 4);
  EXPECT_NEAR(workflow.response_tokens.mean_tokens(), 324.958, 0.1);  // of step 2; the first warms up
  EXPECT_EQ(workflow.models.at("actor").name, "Qwen2.5-0.5B");
  EXPECT_TRUE(workflow.has_task("reference_inference"));  // which the log times
  EXPECT_EQ(runs.plan_of(run).tasks.at("actor_generation").data_parallel(), 2);
  EXPECT_EQ(runs.cluster_of(run).device_count(), 4);
  EXPECT_EQ(run.tasks.at("reference_inference").median_s(), 3.42);
  EXPECT_THAT(run.notes.at("defaults"), HasSubstr("gpu_memory_utilization = 0.5"));
}

TEST(CheckLog, SaysThatTheStepIsNormal) {
  const Printed outcome = run_sextant({"check", kPaste, "--gpus", "4xGH200"});
  EXPECT_THAT(outcome.err, HasSubstr("read as a log of verl"));
  EXPECT_THAT(outcome.out, ::testing::ContainsRegex("iteration +96.6 s .* as expected"));
  EXPECT_THAT(outcome.out, ::testing::StartsWith("run: as expected\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("would explain")));
  EXPECT_THAT(outcome.err,
              HasSubstr("the log times reference_inference, which the configuration does not have"));
}

// A log of slime without a launch, and its script: "\\" at line ends, arithmetic and variables.
TEST(CheckLog, TakesThePlanFromAScript) {
  const TemporaryFolder folder;
  std::string log;
  for (int step = 0; step < 3; ++step)
    log += "perf " + std::to_string(step) +
           ": {'rollout/response_len/mean': 1000.0, 'perf/rollout_time': 71.0, 'perf/log_probs_time': 4.0, "
           "'perf/actor_train_time': 21.0, 'perf/step_time': 100.0, 'perf/update_weights_time': 2.0}\n";
  write_text_file(folder.path() / "run.log", log);
  write_text_file(
      folder.path() / "run.sh",
      "TP=2\npython3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate \\\n"
      "  --rollout-batch-size 32 --n-samples-per-prompt $((2*4)) --global-batch-size 256 \\\n"
      "  --rollout-max-response-len 8192 --hf-checkpoint Qwen/Qwen3-8B --use-dynamic-batch-size \\\n"
      "  --max-tokens-per-gpu 9216 --tensor-model-parallel-size ${TP} --rollout-num-gpus-per-engine 2\n");
  const std::string file = (folder.path() / "run.log").string(), script = (folder.path() / "run.sh").string();
  const Runs runs = imported({file, "--config", script, "--gpus", "H100"});
  EXPECT_EQ(imported({"slime", file, "--config", script, "--gpus", "H100"}).runs, runs.runs);
  ASSERT_EQ(runs.runs.size(), 1U);
  const sextant::Run& run = runs.runs.front();
  EXPECT_EQ(runs.workflow_of(run).sequences(), 256);
  EXPECT_EQ(runs.plan_of(run).tasks.at("actor_training").data_parallel(), 4);
  // Without the script there is nothing whose model could be changed.
  const Printed ignored = run_sextant({"check", file, "--gpus", "8xH100", "--model", "Qwen3-8B"});
  EXPECT_EQ(ignored.exit_code, 2);
  EXPECT_THAT(ignored.err, HasSubstr("--model changes a configuration, and none was given for "));
  EXPECT_EQ(run.tasks.at("actor_generation").median_s(), 71);
  EXPECT_EQ(run.iteration.median_s(), 100);
}

// Two logs of one framework are two runs to fit.
TEST(CheckLog, CalibrateTakesLogs) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "coefficients.json").string();
  const Printed outcome =
      run_sextant({"calibrate", kPaste, "--gpus", "GH200", "--cross-validate", "none", "--out", out});
  EXPECT_THAT(outcome.err, HasSubstr("read as a log of verl"));
  EXPECT_THAT(outcome.out, HasSubstr("fitted to 1 runs"));
}

TEST(CheckLog, SaysWhatIsNeitherALogNorADocument) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "notes.txt").string();
  write_text_file(file, "generation took 3 s\n");
  for (const char* command : {"check", "calibrate", "import"}) {
    const Printed outcome = run_sextant({command, file, "--gpus", "H100"});
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("neither a runs document nor a log whose framework is recognised"))
        << command;
    EXPECT_THAT(outcome.err, HasSubstr("openrlhf")) << command;
  }
  const Printed both = run_sextant({"import", file, kPaste, "--gpus", "4xGH200", "--out", file + ".json"});
  EXPECT_EQ(both.exit_code, 0) << both.err;  // the other log stays
  EXPECT_THAT(both.err, HasSubstr("left out " + file + ": neither"));
  const std::string runs = SEXTANT_TEST_DATA "/runs.json";
  EXPECT_THAT(run_sextant({"check", runs, runs}).err, HasSubstr("one runs document at a time"));
  EXPECT_THAT(run_sextant({"check", runs, "--gpus", "H100"}).err, HasSubstr("clusters of its own"));
}

TEST(CheckLog, NeedsTheGpus) {
  const Printed outcome = run_sextant({"check", kPaste});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--gpus"));
}

}  // namespace
}  // namespace sextant::test
