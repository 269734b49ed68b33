// The checks of every planner's answer.
#include "planner/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/exact/bound.h"
#include "sextant/planners.h"
#include "tests/core/expect_error.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

class AnswerTest : public ::testing::Test {
 protected:
  AnswerTest() {
    request_.limits.micro_batch_sequences = {3};
    constexpr std::uint64_t kEnough = 500;
    request_.budget.evaluations = kEnough;
  }
  [[nodiscard]] static Cluster two_fast(double memory_bytes = 1e6) {
    return Cluster("two", {{"fast", device_type(100, 50, memory_bytes)}}, {node("a", "fast", 2)},
                   {{LinkLevel::within_node, link_rate(0.1, 100)}});
  }

  Cluster cluster_ = two_fast();
  Workflow workflow_ = small_workflow();
  Coefficients coefficients_;
  PlanRequest request_{cluster_, workflow_, coefficients_};
};

TEST_F(AnswerTest, APlanThatKeepsAllRulesPasses) { EXPECT_NO_THROW(require_feasible({})); }

TEST_F(AnswerTest, EveryViolationIsNamedAndTheMachineFailed) {
  Verdict verdict;
  verdict.violations = {{"device 0 (a/0)", rules::kDeviceMemory, "too full"},
                        {"actor_training, replica 1", rules::kLayers, "one short"}};
  EXPECT_EQ(message_of(ErrorKind::machine, [&] { require_feasible(verdict); }),
            "internal error: the planner returned a plan that cannot be run: C3 at device 0 (a/0): too "
            "full; layers at actor_training, replica 1: one short");
}

TEST_F(AnswerTest, EveryPlannersAnswerHasTheBoundOfAllPlans) {
  for (const Planner& planner : planners()) {
    if (!planner.traits.is_built()) continue;
    const PlanResult result = planner.plan(request_);
    ASSERT_EQ(result.outcome, PlanOutcome::found) << planner.name << ": " << result.message;
    EXPECT_EQ(result.bound_of_all_s, min_iteration_s(request_)) << planner.name;
    EXPECT_FALSE(result.bound_of_all_usd) << planner.name;
    EXPECT_NEAR(result.gap_of_all(), result.prediction->iteration_s / result.bound_of_all_s - 1, 1e-12)
        << planner.name;
  }
}

TEST_F(AnswerTest, AnAnswerWithoutAPlanHasTheBoundToo) {
  const Cluster tight = two_fast(100);
  PlanRequest request{tight, workflow_, coefficients_};
  request.budget.evaluations = 100;
  const PlanResult result = find_planner("random")->plan(request);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(result.bound_of_all_s, min_iteration_s(request));
  EXPECT_EQ(result.gap_of_all(), 0);
}

TEST_F(AnswerTest, APlanThatBreaksARuleIsABug) {
  PlanResult result = find_planner("random")->plan(request_);
  ASSERT_TRUE(result.plan);
  const Cluster tight = two_fast(100);
  const PlanRequest there{tight, workflow_, coefficients_};
  EXPECT_THAT(message_of(ErrorKind::machine, [&] { check_answer(there, result); }),
              HasSubstr("returned a plan that cannot be run: C3"));
}

TEST_F(AnswerTest, APlanBelowTheBoundIsABug) {
  PlanResult result = find_planner("random")->plan(request_);
  ASSERT_TRUE(result.prediction);
  result.prediction->iteration_s = result.bound_of_all_s * 0.99;
  EXPECT_THAT(message_of(ErrorKind::machine, [&] { check_answer(request_, result); }),
              HasSubstr("less than the lower bound of any plan"));
}

}  // namespace
}  // namespace sextant::test
