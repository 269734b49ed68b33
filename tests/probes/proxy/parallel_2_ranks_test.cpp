// Every kind of parallelism on two ranks.
#include <gtest/gtest.h>

#include "probes/proxy/proxy.h"
#include "sextant/error.h"
#include "tests/probes/comm/ranks.h"
#include "tests/probes/proxy/fixture.h"
#include "tests/probes/proxy/parallel.h"

namespace sextant::test {
namespace {

const TaskPlan kTensor = uniform(1, 1, 2);
const TaskPlan kPipeline = uniform(1, 2, 1);
const TaskPlan kData = uniform(2, 1, 1);
const TaskPlan kFirst = uniform(1, 1, 1, 0);
const TaskPlan kSecond = uniform(1, 1, 1, 1);

std::vector<Layout> colocated() {
  return {{"tensor", kTensor, kTensor, kTensor},
          {"pipeline", kPipeline, kPipeline, kPipeline},
          {"data", kData, kData, kData},
          {"tensor to data", kData, kPipeline, kTensor},
          {"pipeline to tensor", kTensor, kData, kPipeline},
          {"data to pipeline", kPipeline, kTensor, kData},
          {"train on one of the generating devices", kData, kFirst, kSecond},
          {"train on the first of the generating devices", kTensor, kSecond, kFirst},
          {"generate on one of the training devices", kSecond, kData, kTensor}};
}

TEST(TwoRanks, GrpoEqualsSerial) {
  for (const Layout& layout : colocated()) {
    expect_equals_serial(small_grpo(), plan_of(small_grpo(), layout));
  }
}

TEST(TwoRanks, PpoEqualsSerial) {
  for (const Layout& layout : colocated()) expect_equals_serial(small_ppo(), plan_of(small_ppo(), layout));
}

TEST(TwoRanks, SplitEqualsSerial) {
  const Layout split{"split", kFirst, kSecond, kSecond};
  expect_equals_serial(small_ppo(), plan_of(small_ppo(), split));
}

TEST(TwoRanks, RecomputeEqualsSerial) {
  for (TaskPlan training : {kTensor, kPipeline, kData}) {
    training.recompute = Recompute::full;
    expect_equals_serial(small_grpo(), plan_of(small_grpo(), {"recompute", kData, kData, training}));
  }
}

// One KV head on two ranks: both hold it, and its gradient is the sum of theirs. PPO, because two groups draw
// equal responses here, whose rewards differ by rounding only, and GRPO divides by their deviation.
TEST(TwoRanks, SharedKvHeadEqualsSerial) {
  Workflow workflow = small_ppo();
  for (auto& [name, model] : workflow.models) model.kv_heads = 1;
  expect_equals_serial(workflow, plan_of(workflow, {"shared", kTensor, kTensor, kTensor}));
}

TEST(TwoRanks, UnequalSharesWavesAndLengthsEqualSerial) {
  Workflow workflow = small_grpo();
  workflow.prompts = 6;
  workflow.prompt_tokens = {LengthKind::empirical, {3, 8}, {1, 1}, 0, 0, 0};
  workflow.response_tokens = {LengthKind::empirical, {1, 4, 9}, {1, 1, 1}, 0, 0, 0};
  TaskPlan data = kData;
  data.replicas[0].batch_share = 0.25;
  data.replicas[1].batch_share = 0.75;
  TaskPlan pipeline = kPipeline;
  pipeline.decode_batch_sequences = 4;  // three waves on two stages
  pipeline.micro_batch_sequences = 5;
  expect_equals_serial(workflow, plan_of(workflow, {"unequal", pipeline, data, data}));
  expect_equals_serial(workflow, plan_of(workflow, {"waves", pipeline, pipeline, pipeline}));
}

TEST(TwoRanks, MiniBatchesOfFewerSequencesThanReplicasRun) {
  Workflow workflow = small_ppo();
  workflow.mini_batches = 8;  // one sequence each, for one of two replicas
  expect_runs(workflow, plan_of(workflow, {"mini-batches", kData, kData, kData}));
}

TEST(TwoRanks, OverlappedGenerationRuns) {
  for (const Mode mode : {Mode::one_step_off, Mode::asynchronous}) {
    for (Workflow workflow : {small_grpo(), small_ppo()}) {
      workflow.mode = mode;
      expect_runs(workflow, plan_of(workflow, {"overlapped", kFirst, kSecond, kSecond}));
      expect_runs(workflow, plan_of(workflow, {"overlapped", kSecond, kFirst, kFirst}));
    }
  }
}

TEST(TwoRanks, RunProxyGivesEveryRankTheSame) {
  ProxyOptions options;
  options.max_iterations = 3;
  const Workflow workflow = small_grpo();
  const sextant::Run run = run_proxy(world(), make_cluster(2), workflow,
                                     plan_of(workflow, {"tensor", kTensor, kTensor, kTensor}), options);
  EXPECT_EQ(run.notes.at("ranks"), "2");
  std::vector<double> samples = run.iteration.samples_s;
  std::vector<double> largest = samples;
  world().all_reduce_max(std::span<double>(largest));
  EXPECT_EQ(samples, largest);
}

TEST(TwoRanks, AllRanksRefuseAlike) {
  Workflow workflow = small_grpo();
  for (auto& [name, model] : workflow.models) model.vocabulary = 33;
  const Plan plan = plan_of(workflow, {"tensor", kTensor, kTensor, kTensor});
  EXPECT_THROW(ProxySession(world(), make_cluster(2), workflow, plan, 1), Error);
}

}  // namespace
}  // namespace sextant::test
