#include "ask/plan/plan_within_risk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace sextant::test {
namespace {

constexpr double kMaximum = 0.05;

// The probability that a log-normal need with this median, a part of the memory, exceeds the memory.
double risk_of_need(double share, double deviation) {
  return 0.5 * std::erfc(-std::log(share) / deviation / std::sqrt(2.0));
}

// A planner whose plans fill what they may, and are faster the more they fill. Their memory is as uncertain as
// `deviations` say, search by search (the last one for all that follow); none fits where `least` is more than
// the search may fill.
class Substitute {
 public:
  explicit Substitute(std::vector<double> deviations, double minimum = 0)
      : deviations_(std::move(deviations)), minimum_(minimum) {}

  AnswerWithinRisk plan(double budget_s) {
    PlanRequest request{cluster_, workflow_, coefficients_, ""};
    request.budget.seconds = budget_s;
    return plan_within_risk(request, {kMaximum, [this](const PlanRequest& asked) { return search(asked); },
                                      [this](const PlanResult& result) { return risk_of(result); }});
  }

  std::vector<double> shares, seconds;  // of the searches

 private:
  PlanOutput search(const PlanRequest& request) {
    shares.push_back(request.memory_share);
    seconds.push_back(request.budget.seconds);
    PlanOutput answer;
    if (request.memory_share < minimum_) return answer;
    answer.result.outcome = PlanOutcome::found;
    answer.result.plan.emplace();
    answer.result.candidates = shares.size();
    answer.result.prediction.emplace().iteration_s = 1 / request.memory_share;
    return answer;
  }

  std::optional<MemoryRisk> risk_of(const PlanResult& result) const {
    const std::size_t search = std::min<std::size_t>(result.candidates, deviations_.size()) - 1;
    const double deviation = deviations_[search];
    return MemoryRisk{risk_of_need(1 / result.prediction->iteration_s, deviation), deviation};
  }

  Cluster cluster_;
  Workflow workflow_;
  Coefficients coefficients_;
  std::vector<double> deviations_;
  double minimum_;
};

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(PlanWithinRisk, TheSecondSearchFillsWhatTheFirstOneLearned) {
  Substitute substitute({0.1});
  const AnswerWithinRisk found = substitute.plan(10);
  EXPECT_EQ(found.answer.warning, "");
  ASSERT_EQ(substitute.shares.size(), 2U);
  EXPECT_NEAR(substitute.shares[1], 0.9999 * share_for_risk(kMaximum, 0.1), 1e-12);
  EXPECT_NEAR(1 / found.answer.result.prediction->iteration_s, substitute.shares[1], 1e-12);
}

// The second search finds a plan of another kind, which is less certain; so does the third one.
TEST(PlanWithinRisk, APlanThatIsTooRiskyIsMended) {
  Substitute substitute({0.05, 0.1, 0.15, 0.15});
  const AnswerWithinRisk found = substitute.plan(10);
  EXPECT_EQ(found.answer.warning, "");
  ASSERT_EQ(substitute.shares.size(), 4U);
  EXPECT_LE(1 / found.answer.result.prediction->iteration_s, share_for_risk(kMaximum, 0.15));
  EXPECT_LE(sum(substitute.seconds), 10 + 1e-9);
}

TEST(PlanWithinRisk, WithoutABudgetEachSearchEndsByItself) {
  Substitute substitute({0.1});
  const AnswerWithinRisk found = substitute.plan(0);
  EXPECT_EQ(found.answer.warning, "");
  EXPECT_EQ(substitute.seconds, std::vector<double>(substitute.seconds.size(), 0.0));
  EXPECT_LE(1 / found.answer.result.prediction->iteration_s, share_for_risk(kMaximum, 0.1));
}

// A risky and uncertain plan says to fill no more than 0.72 of the memory, where none fits. A plan that fills 0.92 is less
// uncertain, and within the limit.
TEST(PlanWithinRisk, PlansBetweenARiskyShareAndOneThatFailsAreFound) {
  Substitute substitute({0.2, 0.2, 0.2, 0.04}, 0.85);
  const AnswerWithinRisk found = substitute.plan(10);
  ASSERT_EQ(found.answer.result.outcome, PlanOutcome::found);
  EXPECT_EQ(found.answer.warning, "");
  EXPECT_LE(sum(substitute.seconds), 10 + 1e-9);
}

TEST(PlanWithinRisk, WhereNoneIsSureEnoughTheAnswerSaysHowRiskyItIs) {
  Substitute substitute({0.1}, 0.95);
  const AnswerWithinRisk found = substitute.plan(10);
  ASSERT_EQ(found.answer.result.outcome, PlanOutcome::found);
  EXPECT_NE(found.answer.warning.find("at most 5.0 %"), std::string::npos) << found.answer.warning;
  EXPECT_LE(sum(substitute.seconds), 10 + 1e-9);
}

TEST(PlanWithinRisk, WhereNothingFitsThereIsNoPlan) {
  Substitute substitute({0.1}, 2);
  const AnswerWithinRisk found = substitute.plan(10);
  EXPECT_EQ(found.answer.result.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(found.answer.warning, "");
  EXPECT_LE(sum(substitute.seconds), 10 + 1e-9);
}

}  // namespace
}  // namespace sextant::test
