#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "probes/proxy/checks.h"
#include "tests/probes/proxy/fixture.h"

namespace sextant {
namespace {

using testing::HasSubstr;

// The sentence with which one rank refuses; empty when it does not.
std::string refusal(const Workflow& workflow, const Plan& plan, int devices = 2) {
  const auto world = make_serial_communicator();
  try {
    const ProxySession session(*world, test::make_cluster(devices), workflow, plan, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

std::string refusal_after(const std::function<void(Workflow&)>& change) {
  Workflow workflow = test::small_ppo();
  change(workflow);
  return refusal(workflow, test::plan_all(workflow, test::uniform(1, 1, 1)));
}

TEST(Checks, AcceptWhatTheProxyRuns) {
  EXPECT_EQ(refusal_after([](Workflow&) {}), "");
}

TEST(Checks, RefuseOtherPrecisions) {
  for (const Precision precision : {Precision::bf16, Precision::fp64}) {
    EXPECT_THAT(refusal_after([&](Workflow& w) { w.precision = precision; }), HasSubstr("fp32"));
  }
}

TEST(Checks, RefuseMadeUpRewardTime) {
  EXPECT_THAT(refusal_after([](Workflow& w) { w.rule_reward_s_per_sequence = 0.1; }),
              HasSubstr("rule_reward_s_per_sequence"));
}

TEST(Checks, RefuseModelsWithoutTokensOrWithExperts) {
  EXPECT_THAT(refusal_after([](Workflow& w) { w.models.at("actor").vocabulary = 0; }), HasSubstr("vocabulary"));
  EXPECT_THAT(refusal_after([](Workflow& w) { w.models.at("critic").vocabulary = 16; }),
              HasSubstr("smaller than the actor's"));
  EXPECT_THAT(refusal_after([](Workflow& w) {
                w.models.at("actor").experts = Experts{4, 2, 24};
              }),
              HasSubstr("experts"));
  EXPECT_THAT(refusal_after([](Workflow& w) { w.models.at("actor").head_dim = 5; }), HasSubstr("even"));
}

TEST(Checks, RefuseMoreMiniBatchesThanSequences) {
  EXPECT_THAT(refusal_after([](Workflow& w) { w.mini_batches = 9; }), HasSubstr("mini-batches"));
}

TEST(Checks, RefuseDevicesBeyondTheRanks) {
  const Workflow workflow = test::small_grpo();
  EXPECT_THAT(refusal(workflow, test::plan_all(workflow, test::uniform(2, 1, 1))), HasSubstr("mpirun -n 2"));
}

TEST(Checks, RefuseAVocabularyThatDoesNotDivide) {
  Workflow workflow = test::small_grpo();
  for (auto& [name, model] : workflow.models) model.vocabulary = 33;
  EXPECT_THAT(refusal(workflow, test::plan_all(workflow, test::uniform(1, 1, 2))), HasSubstr("mpirun"));
  EXPECT_THROW(proxy::check_runnable(workflow, test::plan_all(workflow, test::uniform(1, 1, 2)), 2), Error);
}

TEST(Checks, RefuseTrainingReplicasThatDiffer) {
  const Workflow workflow = test::small_grpo();
  Plan plan = test::plan_all(workflow, test::uniform(1, 1, 1));
  plan.tasks.at(task_names::kActorTraining).replicas = {
      test::make_replica({test::make_stage(3, {0})}, 0.5),
      test::make_replica({test::make_stage(2, {1}), test::make_stage(1, {2})}, 0.5)};
  EXPECT_NO_THROW(check_plan(plan, workflow, test::make_cluster(3)));
  try {
    proxy::check_runnable(workflow, plan, 3);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("differ"));
  }
}

TEST(Checks, RefuseOverlapOnSharedDevices) {
  for (const Mode mode : {Mode::one_step_off, Mode::asynchronous}) {
    EXPECT_THAT(refusal_after([&](Workflow& w) { w.mode = mode; }), HasSubstr("other devices only"));
  }
}

}  // namespace
}  // namespace sextant
