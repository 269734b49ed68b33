// Branch and bound against every plan of small spaces, and what it says when it is stopped.
#include "planner/exact/exact.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "costmodel/memory.h"
#include "costmodel/predict.h"
#include "planner/exact/group_costs.h"
#include "tests/planner/exact/unit_space_case.h"

namespace sextant::testing {
namespace {

constexpr double kRounding = 1e-9;  // relative: what branch and bound takes for equal

void expect_equal_to_brute_force(const SmallCase& small, const Coefficients& coefficients) {
  SCOPED_TRACE(small.name);
  const PlanRequest request = request_of(small, coefficients);
  ExactLimits limits;
  limits.wanted_units = small.wanted_units;
  const PlanResult exact = plan_exactly(request, limits);
  BruteForce brute(request, small.wanted_units);
  const double best_s = brute.best_s();
  ASSERT_TRUE(std::isfinite(best_s));
  ASSERT_EQ(exact.outcome, PlanOutcome::found) << exact.message;
  EXPECT_EQ(exact.proof, Proof::optimal);
  EXPECT_NEAR(exact.prediction->iteration_s, best_s, kRounding * best_s) << brute.plans();
  EXPECT_NEAR(exact.lower_bound_s, best_s, kRounding * best_s);
  EXPECT_EQ(exact.gap_fraction, 0);
  EXPECT_LT(exact.nodes, brute.plans());
  check_plan(*exact.plan, small.workflow, small.cluster);
  for (const DeviceMemory& memory : plan_memory(small.workflow, *exact.plan, small.cluster))
    EXPECT_TRUE(memory.fits());
}

TEST(PlanExactly, EqualsEveryPlanOfSmallSpaces) {
  for (const SmallCase& small : small_cases()) expect_equal_to_brute_force(small, {});
}

// Tasks that do not run quite beside each other, and links that cost more.
TEST(PlanExactly, EqualsEveryPlanWithOtherCoefficients) {
  Coefficients coefficients;
  for (const auto& [id, value] : std::vector<std::pair<CoefficientId, double>>{
           {CoefficientId::task_overlap, 0.7},
           {CoefficientId::weight_sync_efficiency, 0.3},
           {CoefficientId::reshard_efficiency, 0.2},
           {CoefficientId::weight_copy_weight, 3},
           {CoefficientId::straggler_spread, 0.05}}) {
    Coefficient coefficient;
    coefficient.id = id;
    coefficient.value = value;
    coefficients.values.push_back(coefficient);
  }
  for (const SmallCase& small : small_cases()) expect_equal_to_brute_force(small, coefficients);
}

TEST(PlanExactly, EqualsEveryPlanForOtherWaysToSynchronize) {
  const SmallCase small = small_cases()[5];
  PlanRequest request = request_of(small, {});
  const Coefficients coefficients;
  for (const WeightSyncMethod method : {WeightSyncMethod::flat, WeightSyncMethod::sharded}) {
    PlanRequest other{small.cluster, small.workflow, coefficients};
    other.limits = request.limits;
    other.weight_sync.method = method;
    BruteForce brute(other, small.wanted_units);
    const double best_s = brute.best_s();
    ExactLimits limits;
    limits.wanted_units = small.wanted_units;
    const PlanResult exact = plan_exactly(other, limits);
    EXPECT_EQ(exact.proof, Proof::optimal);
    EXPECT_NEAR(exact.prediction->iteration_s, best_s, kRounding * best_s);
  }
}

}  // namespace
}  // namespace sextant::testing
