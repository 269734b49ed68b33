// Every public log that was collected becomes runs, or its sentence says what it lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "calibrate/import/import.h"
#include "tests/calibrate/import/facts_fixture.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct PublicLog {
  std::string format, name;
  std::size_t runs = 0;  // with the GPUs that are stated
  std::string reason;    // of the first record that is left out
  StatedGpus stated = {};
};

Imported read(const PublicLog& log) {
  return import_runs(log.format, {SEXTANT_SOURCE_DIR "/tests/data/logs/" + log.name + ".json"}, published(),
                     log.stated);
}

std::vector<PublicLog> logs() {
  return {
      {"verl", "misc-step-times", 0, "sentences: no configuration"},
      {"nemo-rl", "nemo-rl-performance-summary", 0, "without the times of tasks; data/runs/rl.json"},
      {"nemo-rl", "nemo-rl-pr-1052", 0,
       "the mean response length, the time of the whole step, the time of generation"},
      {"nemo-rl", "nemo-rl-test-bounds", 0, "limits of tests"},
      {"openrlhf", "openrlhf-samples", 0, "the model, the batch, the limit of responses"},
      {"slime", "slime-perf-samples", 0, "not stated: the GPU, the number of GPUs, the model, the batch"},
      {"verl", "verl-agentic-rag-qwen25-0.5b-1gpu", 1, ""},
      {"verl", "verl-char-count-smollm-135m", 0, "not stated: the GPU (--gpus adds GPUs)"},
      {"verl", "verl-deepseek7b-grpo-mi300x", 1, ""},
      {"verl", "verl-deepseek7b-ppo-mi300x", 1, ""},
      {"verl", "verl-docs-fully-async", 0, "its gen is a wait"},
      {"verl", "verl-docs-one-step-off", 0, "not stated: the batch, the limit of responses"},
      {"verl", "verl-docs-v1-async", 0, "without the times of tasks"},
      {"verl", "verl-gui-cursor-qwen3vl-2b", 0, "\"Qwen3-VL-2B-Thinking\" is not known"},
      {"verl", "verl-issue-1208", 0, "not stated: the model, the limit of responses"},
      {"verl", "verl-issue-7203", 0, "only values over several steps"},
      {"verl", "verl-issue-7412", 0, "not stated: the GPU, the number of GPUs, the model"},
      {"verl", "verl-logic-rl-qwen25-3b-a40", 1, ""},
      {"verl", "verl-metax-c550-qwen3-8b", 0, "neither memory bandwidth nor links"},
      {"verl", "verl-ppo-critic-1gpu", 0, "only values over several steps"},
      {"verl", "verl-py-inference-scheduler", 0, "not stated: the GPU, the model"},
      {"verl", "verl-qwen25-7b-ppo-2x8-h100class", 0, "names several GPUs"},
      {"verl", "verl-retool-qwen25-32b", 0, "not stated: the GPU, the batch"},
      {"verl", "verl-rllm-issue-54", 0, "not stated: the GPU, the model"},
      {"verl", "verl-sdar-issue-51", 0,
       "not stated: the limit of responses (--config the configuration); no step has"},
      {"verl", "verl-slime-issue-385", 0, "it is of slime"},
      {"verl", "verl-verldata-qwen2-7b-fsdp", 0, "names several GPUs"},
      {"verl", "verl-verldata-qwen2-7b-megatron", 0, "names several GPUs"},
  };
}

TEST(PublicLogs, BecomeRunsOrSayWhatTheyLack) {
  for (const PublicLog& log : logs()) {
    const Imported imported = read(log);
    EXPECT_EQ(imported.runs.runs.size(), log.runs) << log.name;
    if (log.reason.empty()) continue;
    ASSERT_THAT(imported.left_out, Not(IsEmpty())) << log.name;
    EXPECT_THAT(imported.left_out.front().reason, HasSubstr(log.reason)) << log.name;
  }
}

// These logs lack only the GPU, which a user knows.
TEST(PublicLogs, NeedOnlyTheirGpus) {
  const std::vector<PublicLog> known{
      {"verl", "verl-char-count-smollm-135m", 1, "", {"RTX 4090", 1, 1}},
      {"verl", "verl-qwen25-7b-ppo-2x8-h100class", 1, "", {"H100-SXM-80GB", 16, 8}},
      {"verl", "verl-verldata-qwen2-7b-fsdp", 1, "", {"A100-SXM-80GB", 8, 8}},
      {"verl", "verl-verldata-qwen2-7b-megatron", 1, "", {"A800-SXM-80GB", 8, 8}},
  };
  for (const PublicLog& log : known) {
    const Imported imported = read(log);
    ASSERT_EQ(imported.runs.runs.size(), log.runs) << log.name << ": " << imported.left_out.front().reason;
    const sextant::Run& run = imported.runs.runs.front();
    EXPECT_EQ(imported.runs.cluster_of(run).device_count(), *log.stated.gpus) << log.name;
    EXPECT_TRUE(imported.runs.cluster_of(run).device_types().contains(published().gpu(log.stated.gpu).name));
  }
}

// A log of one GPU needs no tensor parallelism, and one of 1024 sequences no prompts.
TEST(PublicLogs, TakeWhatFollows) {
  const Imported imported = read({"verl", "verl-char-count-smollm-135m", 1, "", {"RTX 4090", 1, 1}});
  const sextant::Run& run = imported.runs.runs.front();
  EXPECT_EQ(imported.runs.workflow_of(run).sequences(), 1024);
  EXPECT_EQ(imported.runs.plan_of(run).tasks.at("actor_generation").data_parallel(), 1);
  EXPECT_THAT(run.notes.at("left unsaid"), HasSubstr("Responses of a prompt: one."));
}

}  // namespace
}  // namespace sextant
