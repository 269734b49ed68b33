// A plan of one machine, repeated on others.
#include "planner/search/replicate.h"

#include <gtest/gtest.h>

#include "planner/verify/verify.h"
#include "sextant/planners.h"
#include "sextant/predict.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

class RepeatedPlan : public ::testing::Test {
 protected:
  Workflow workflow_ = ppo_8b();
  Cluster one_ = cluster_of({{"a100", 1}}), four_ = cluster_of({{"a100", 4}});
  Coefficients coefficients_;

  // The plan of one machine as a plan of a cluster that has it first.
  [[nodiscard]] PlanResult planned_for(const Cluster& cluster) const {
    const PlanRequest request{one_, workflow_, coefficients_};
    PlanResult result = find_planner("verl-colocated")->plan(request);
    result.prediction = predict(cluster, workflow_, *result.plan, coefficients_);
    return result;
  }
  [[nodiscard]] std::optional<PlanResult> repeated(const PlanRequest& request) const {
    return repeated_on_idle_devices(request, planned_for(request.cluster));
  }
};

TEST_F(RepeatedPlan, UsesAllMachinesAndFits) {
  const PlanRequest request{four_, workflow_, coefficients_};
  const PlanResult before = planned_for(four_);
  const std::optional<PlanResult> after = repeated(request);
  ASSERT_TRUE(after);
  EXPECT_LT(after->prediction->iteration_s, 0.5 * before.prediction->iteration_s);
  EXPECT_TRUE(verify_plan(four_, workflow_, *after->plan, coefficients_).feasible());
  for (const auto& [name, task] : after->plan->tasks) {
    EXPECT_EQ(task.devices().size(), 4 * before.plan->tasks.at(name).devices().size()) << name;
    EXPECT_EQ(task.data_parallel(), 4 * before.plan->tasks.at(name).data_parallel()) << name;
  }
}

TEST_F(RepeatedPlan, IsNoneWhereMachinesDifferOrThereIsNoRoom) {
  const Cluster mixed = cluster_of({{"a100", 1}, {"l40s", 3}});
  EXPECT_FALSE(repeated(PlanRequest{mixed, workflow_, coefficients_}));
  EXPECT_FALSE(repeated(PlanRequest{one_, workflow_, coefficients_}));
}

}  // namespace
}  // namespace sextant::test
