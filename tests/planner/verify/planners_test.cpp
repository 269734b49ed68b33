// Plans of planners, verified.
#include <gtest/gtest.h>

#include "planner/exact/exhaustive.h"
#include "planner/verify/verify.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

SearchLimits small_space() {
  SearchLimits limits;
  limits.micro_batch_sequences = {1, 5};
  limits.try_recompute = true;
  limits.try_uneven_stages = true;
  return limits;
}

Cluster pair_with(double memory_bytes) {
  return Cluster("pair",
                 {{"fast", device_type(100, 50, memory_bytes)}, {"slow", device_type(40, 20, memory_bytes)}},
                 {node("a", "fast", 1), node("b", "slow", 1)}, {{LinkLevel::within_zone, link_rate(5, 10)}});
}

void expect_verified(const Cluster& cluster, const Workflow& workflow) {
  const std::vector<PlanResult> ranked =
      rank_exhaustively({cluster, workflow, {}, std::string(kAny), small_space()}, 200);
  ASSERT_FALSE(ranked.empty());
  for (const PlanResult& result : ranked) {
    const Verdict verdict = verify_plan(cluster, workflow, *result.plan, {});
    EXPECT_TRUE(verdict.feasible()) << describe(*result.plan) << "\n" << describe(verdict.violations.front());
  }
}

TEST(VerifiedPlans, ExhaustiveSearch) {
  for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
    for (const double memory_bytes : {1e6, 12e3}) {
      expect_verified(pair_with(memory_bytes), small_workflow(mode, 4));
    }
  }
}

TEST(VerifiedPlans, ExhaustiveSearchOfAMixture) {
  Model model = small_mixture();
  model.experts->intermediate = 6;
  model.intermediate = 5;  // of no layer
  expect_verified(pair_with(1e6), with_model(model));
}

// With twelve sequences in seven optimizer steps, a second replica has none in the last ones, and one in the
// others.
TEST(VerifiedPlans, ExhaustiveSearchWithManyOptimizerSteps) {
  Workflow workflow = small_workflow();
  workflow.mini_batches = 7;
  expect_verified(pair_with(1e6), workflow);
}

TEST(VerifiedPlans, WhatDoesNotFitIsFound) {
  const Workflow workflow = small_workflow();
  const PlanResult best = plan_exhaustively({pair_with(1e6), workflow, {}, std::string(kAny), small_space()});
  const Verdict verdict = verify_plan(pair_with(1000), workflow, *best.plan, {});
  ASSERT_FALSE(verdict.feasible());
  EXPECT_EQ(verdict.violations.front().rule, "C3");
}

}  // namespace
}  // namespace sextant::test
