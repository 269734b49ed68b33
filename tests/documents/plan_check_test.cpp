// Plans that check_plan refuses, in addition to the documents of tests/data/bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/plan.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

class CheckPlan : public ::testing::Test {
 protected:
  std::string refusal() const {
    return refusal_of([this] { check_plan(plan_, workflow_, cluster_); });
  }
  TaskPlan& training() { return plan_.tasks.at("actor_training"); }
  Stage& stage(std::size_t index) { return training().replicas[0].stages[index]; }

  Cluster cluster_ = load_fixture<Cluster>("cluster.json");
  Workflow workflow_ = load_fixture<Workflow>("workflow_ppo.json");
  Plan plan_ = load_fixture<Plan>("plan.json");
};

TEST_F(CheckPlan, AcceptsTheFixtures) {
  EXPECT_NO_THROW(check_plan(plan_, workflow_, cluster_));
  EXPECT_NO_THROW(
      check_plan(load_fixture<Plan>("plan_grpo.json"), load_fixture<Workflow>("workflow_grpo.json"), cluster_));
}

TEST_F(CheckPlan, RefusesNegativeDevices) {
  stage(0).devices[0] = DeviceId{-1};
  EXPECT_EQ(
      refusal(),
      "/tasks/actor_training/replicas/0/stages/0/devices/0: unknown device -1; the cluster has 8 (0 to 7)");
}

TEST_F(CheckPlan, RefusesADeviceInTwoReplicas) {
  plan_.tasks.at("actor_generation").replicas[1].stages[0].devices[1] = DeviceId{3};
  EXPECT_EQ(refusal(),
            "/tasks/actor_generation/replicas/1/stages/0/devices/1: device 3 is used twice in this task");
}

TEST_F(CheckPlan, RefusesMoreReplicasThanSequences) {
  workflow_.prompts = 3;
  EXPECT_EQ(refusal(), "/tasks/reference_inference/replicas: 4 replicas for 3 sequences");
}

TEST_F(CheckPlan, RefusesSharesTooSmallForASequence) {
  auto& replicas = plan_.tasks.at("actor_generation").replicas;
  replicas[0].batch_share = 0.999;
  replicas[1].batch_share = 0.001;
  EXPECT_EQ(refusal(), "/tasks/actor_generation/replicas/1/batch_share: too small for one of 64 sequences");
}

TEST_F(CheckPlan, RefusesMicroBatchesWithoutASequence) {
  workflow_.mini_batches = 16;
  training().execution.micro_batches = 4;
  EXPECT_NO_THROW(check_plan(plan_, workflow_, cluster_));
  training().execution.micro_batches = 5;
  EXPECT_EQ(refusal(), "/tasks/actor_training/execution/micro_batches: 5 of 4 sequences");
  training().execution.micro_batches = 0;
  workflow_.prompt_tokens = fixed_length(10);
  workflow_.response_tokens = fixed_length(20);
  training().execution.micro_batch_tokens = 30;
  EXPECT_NO_THROW(check_plan(plan_, workflow_, cluster_));
  training().execution.micro_batch_tokens = 29;
  EXPECT_EQ(
      refusal(),
      "/tasks/actor_training/execution/micro_batch_tokens: a micro-batch of 29.0 tokens holds no sequence "
      "of 30.0");
}

TEST_F(CheckPlan, RefusesToDealByLengthWhatIsNotGeneratedYet) {
  training().replicas.back().length_rank = 1;
  EXPECT_NO_THROW(check_plan(plan_, workflow_, cluster_));
  plan_.tasks.at("actor_generation").replicas[1].length_rank = 1;
  EXPECT_EQ(refusal(),
            "/tasks/actor_generation/replicas/1/length_rank: not allowed for generation, which decides the "
            "lengths itself");
}

TEST_F(CheckPlan, RefusesSharesThatDoNotSumToOne) {
  training().replicas[0].batch_share = 0.5;
  EXPECT_EQ(refusal(), "/tasks/actor_training/replicas: the batch shares sum to 0.5, not to 1");
}

// Only what a task's own devices lack: the l40s of the fixture have fp32, the h100s do not.
TEST_F(CheckPlan, RefusesAPrecisionThatTheDevicesOfATaskLack) {
  training().execution.precision = Precision::fp4;
  EXPECT_EQ(
      refusal(),
      "/tasks/actor_training/execution/precision: device type \"h100\" of the cluster has no flop_per_s for "
      "fp4");
  training().execution.precision.reset();
  training().execution.attention_precision = Precision::fp4;
  EXPECT_EQ(refusal(),
            "/tasks/actor_training/execution/attention_precision: device type \"h100\" of the cluster has no "
            "flop_per_s for fp4");
}

TEST_F(CheckPlan, ThePrecisionOfTheWorkflowIsAskedOfEachTasksDevicesAlone) {
  workflow_.precision = Precision::fp32;
  EXPECT_THAT(refusal(),
              ::testing::HasSubstr(": device type \"h100\" of the cluster has no flop_per_s for fp32, "
                                   "the workflow's precision"));
  for (auto& [name, task] : plan_.tasks) {
    const std::set<DeviceId> devices = task.devices();
    const bool on_l40s = std::all_of(devices.begin(), devices.end(),
                                     [&](DeviceId device) { return cluster_.type_name(device) == "l40s"; });
    if (!on_l40s) task.execution.precision = Precision::bf16;
  }
  EXPECT_NO_THROW(check_plan(plan_, workflow_, cluster_));
}

TEST_F(CheckPlan, RefusesEmptyParts) {
  stage(1).layers = 0;
  EXPECT_EQ(refusal(), "/tasks/actor_training/replicas/0/stages/1/layers: expected an integer >= 1, got 0");
  stage(1).layers = 4;
  stage(1).devices.clear();
  EXPECT_EQ(refusal(), "/tasks/actor_training/replicas/0/stages/1/devices: expected at least one device");
  training().replicas.clear();
  EXPECT_EQ(refusal(), "/tasks/actor_training/replicas: expected at least one replica");
}

TEST_F(CheckPlan, TensorParallelismMustDivideTheShapes) {
  Model& actor = workflow_.models.at("actor");
  actor.intermediate = 1538;
  EXPECT_EQ(refusal(),
            "/tasks/actor_generation/replicas/0/stages/0/devices: tensor parallelism 4 does not divide the "
            "model's 1538 intermediate dimensions");
  actor.intermediate = 1536;
  actor.heads = 12;
  actor.kv_heads = 6;
  EXPECT_EQ(refusal(),
            "/tasks/actor_generation/replicas/0/stages/0/devices: tensor parallelism 4 does not divide the "
            "model's 6 key-value heads, and is not a multiple of them");
  actor.kv_heads = 2;  // repeated twice: fine
  EXPECT_NO_THROW(check_plan(plan_, workflow_, cluster_));
  actor.experts = Experts{8, 2, 6};
  EXPECT_EQ(refusal(),
            "/tasks/actor_generation/replicas/0/stages/0/devices: tensor parallelism 4 does not divide the "
            "model's 6 intermediate dimensions of an expert");
}

}  // namespace
}  // namespace sextant
