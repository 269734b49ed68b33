#include "probes/proxy/rollout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/probes/proxy/fixture.h"

namespace sextant::proxy {
namespace {

constexpr float kRolloutTolerance = 1e-5F;  // a few additions in single precision

TEST(Rollout, RolesFollowFromTheGraph) {
  const Workflow ppo = test::small_ppo();
  EXPECT_EQ(role_of(ppo, ppo.task(task_names::kRewardInference)), Role::reward);
  EXPECT_EQ(role_of(ppo, ppo.task(task_names::kReferenceInference)), Role::reference);
  EXPECT_EQ(role_of(ppo, ppo.task(task_names::kCriticInference)), Role::critic);
  EXPECT_EQ(role_of(ppo, ppo.task(task_names::kCriticTraining)), Role::training);
}

TEST(Rollout, PromptsAreSharedWithinAGroupAndDifferBetweenGroups) {
  const Workflow workflow = test::small_grpo();
  const Workload workload = make_workload(workflow, 1);
  Rollout rollout(workload);
  start_rollout(workflow, workload, 5, rollout);
  const auto prompt = [&](int i) {
    const auto tokens = tokens_of(workload, rollout, i).first(6);
    return std::vector<int>(tokens.begin(), tokens.end());
  };
  EXPECT_EQ(prompt(0), prompt(1));
  EXPECT_NE(prompt(1), prompt(2));
}

// Worked by hand: rewards 1 and 3 in a group have mean 2 and deviation 1.
TEST(Rollout, GrpoNormalisesWithinTheGroup) {
  const Workflow workflow = test::small_grpo();
  const Workload workload = make_workload(workflow, 1);
  Rollout rollout(workload);
  rollout.rewards = {1, 3, 5, 5, 0, 0, 0, 0};
  compute_advantages(workflow, workload, rollout);
  EXPECT_NEAR(rollout.advantages[0], -1, 1e-3);
  EXPECT_NEAR(rollout.advantages[1], 1, 1e-3);
  EXPECT_NEAR(rollout.advantages[2], 0, kRolloutTolerance);
}

TEST(Rollout, PpoSubtractsTheMeanValue) {
  const Workflow workflow = test::small_ppo();
  const Workload workload = make_workload(workflow, 1);
  Rollout rollout(workload);
  rollout.rewards[0] = 2;
  const std::size_t response = workload.offset(0) + 6;
  for (std::size_t i = 0; i < 5; ++i) {
    rollout.values[response + i] = static_cast<float>(i);  // mean 2
    rollout.log_probabilities[response + i] = -1;
  }
  compute_advantages(workflow, workload, rollout);
  EXPECT_NEAR(rollout.returns[0], 2 - 0.05, kRolloutTolerance);
  EXPECT_NEAR(rollout.advantages[0], -0.05, kRolloutTolerance);
}

TEST(Rollout, WithoutRewardModelTheRuleCountsEvenTokens) {
  Workflow workflow = test::small_grpo();
  workflow.tasks = grpo_tasks(false);
  const Workload workload = make_workload(workflow, 1);
  Rollout rollout(workload);
  std::fill(rollout.tokens.begin(), rollout.tokens.end(), 1);
  rollout.tokens[workload.offset(1) + 7] = 2;  // one of five
  compute_advantages(workflow, workload, rollout);
  EXPECT_NEAR(rollout.returns[0], 0, kRolloutTolerance);
  EXPECT_NEAR(rollout.returns[1], 0.2, kRolloutTolerance);
}

}  // namespace
}  // namespace sextant::proxy
