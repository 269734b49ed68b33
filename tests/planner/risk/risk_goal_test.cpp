#include "planner/risk/risk_goal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "sextant/statistics.h"
#include "tests/planner/risk/two_zones.h"

namespace sextant::test {
namespace {

constexpr int kDraws = 200;

TEST(RiskDraws, WithoutSpreadAreTheDocuments) {
  const TwoZones zones;
  const auto draws = risk_draws(zones.request, {}, {0, 0}, 8, 1);
  ASSERT_EQ(draws.size(), 8U);
  for (const double time_s : times_under(zones.request, zones.far, draws))
    EXPECT_DOUBLE_EQ(time_s, zones.time_s(zones.far, zones.workflow, zones.cluster));
}

TEST(RiskDraws, AreOfTheModelThatTheyAreGiven) {
  const TwoZones zones;
  const auto draws = risk_draws(zones.request, {}, {0.3, 0.5}, 8, 7);
  const std::vector<double> times_s = times_under(zones.request, zones.far, draws);
  for (std::size_t d = 0; d < draws.size(); ++d)
    EXPECT_DOUBLE_EQ(times_s[d], zones.time_s(zones.far, draws[d].workflow, draws[d].cluster));
  const auto again = risk_draws(zones.request, {}, {0.3, 0.5}, 8, 7);
  EXPECT_EQ(times_under(zones.request, zones.far, again), times_s);
}

// The deviations that were asked for, to what 2,000 draws tell of them.
TEST(RiskDraws, HaveTheSpreadThatWasAskedFor) {
  const TwoZones zones;
  CoefficientUncertainty doubt;
  doubt.model_log_deviation = 0.2;
  std::vector<double> lengths, rates, factors;
  for (const RiskDraw& draw : risk_draws(zones.request, doubt, {0.1, 0.4}, 2000, 3)) {
    lengths.push_back(std::log(draw.workflow.response_tokens.mean_tokens() / 1024));
    rates.push_back(std::log(draw.cluster.link(DeviceId{0}, DeviceId{4}).bytes_per_s.value / 1.25e9));
    factors.push_back(std::log(draw.model_factor));
    EXPECT_EQ(draw.cluster.link(DeviceId{0}, DeviceId{1}), zones.cluster.link(DeviceId{0}, DeviceId{1}));
    EXPECT_EQ(draw.workflow.prompt_tokens, zones.workflow.prompt_tokens);
  }
  constexpr double kOfADeviation = 0.06;  // 4 / sqrt(2 * 2000)
  EXPECT_NEAR(standard_deviation(lengths), 0.1, kOfADeviation * 0.1);
  EXPECT_NEAR(standard_deviation(rates), 0.4, kOfADeviation * 0.4);
  EXPECT_NEAR(standard_deviation(factors), 0.2, kOfADeviation * 0.2);
  EXPECT_NEAR(mean(rates), 0, 0.4 * 0.09);  // 4 / sqrt(2000)
}

TEST(PlanForRisk, AnUncertainLinkIsUsedInTheMedianAndLeftInTheTail) {
  const TwoZones zones;
  ASSERT_LT(zones.time_s(zones.far, zones.workflow, zones.cluster),
            zones.time_s(zones.near, zones.workflow, zones.cluster));
  const auto draws = risk_draws(zones.request, {}, {0, 2}, kDraws, 1);
  const auto plan = [&](double percentile) {
    return plan_for_risk(zones.request, zones.far,
                         {RiskGoal{percentile}, draws, 4, [&](const PlanRequest&) { return zones.near; }});
  };
  const RiskAnswer median = plan(0.5), tail = plan(0.95);
  EXPECT_EQ(median.plan, zones.far);
  EXPECT_EQ(tail.plan, zones.near);
  EXPECT_EQ(tail.plans, 2U);
  EXPECT_EQ(tail.draws, draws.size());
  EXPECT_DOUBLE_EQ(tail.at_goal_s, quantile(times_under(zones.request, zones.near, draws), 0.95));
  EXPECT_DOUBLE_EQ(tail.fastest_at_goal_s, quantile(times_under(zones.request, zones.far, draws), 0.95));
  EXPECT_LT(tail.at_goal_s, tail.fastest_at_goal_s);
}

// A search for a draw may find what the first search missed.
TEST(PlanForRisk, IsComparedWithTheFastestPlanThatIsKnown) {
  const TwoZones zones;
  const auto draws = risk_draws(zones.request, {}, {0, 0.1}, kDraws, 1);
  const RiskAnswer found = plan_for_risk(
      zones.request, zones.near, {RiskGoal{0.9}, draws, 4, [&](const PlanRequest&) { return zones.far; }});
  EXPECT_EQ(found.plan, zones.far);
  EXPECT_DOUBLE_EQ(found.fastest_at_goal_s, found.at_goal_s);
}

TEST(PlanForRisk, IsNeverWorseThanTheFirstPlan) {
  const TwoZones zones;
  const auto draws = risk_draws(zones.request, {}, {0.1, 0.1}, kDraws, 1);
  for (const RiskGoal goal : {RiskGoal{}, RiskGoal{0.9}}) {
    const RiskAnswer worse = plan_for_risk(zones.request, zones.far,
                                           {goal, draws, 4, [&](const PlanRequest&) { return zones.near; }});
    EXPECT_EQ(worse.plan, zones.far) << name_of(goal);
    const RiskAnswer none = plan_for_risk(
        zones.request, zones.far, {goal, draws, 4, [](const PlanRequest&) { return std::optional<Plan>(); }});
    EXPECT_EQ(none.plan, zones.far) << name_of(goal);
    EXPECT_EQ(none.plans, 1U);
  }
}

// Searches for a percentile see draws around it, those for the mean see draws of all kinds.
TEST(PlanForRisk, SearchesInDrawsThatMatter) {
  const TwoZones zones;
  const auto draws = risk_draws(zones.request, {}, {0, 1}, kDraws, 1);
  const std::vector<double> times_s = times_under(zones.request, zones.far, draws);
  const auto searched = [&](const RiskGoal& goal) {
    std::vector<double> found_s;
    (void)plan_for_risk(zones.request, zones.far,
                        {goal, draws, 4, [&](const PlanRequest& drawn) {
                           found_s.push_back(zones.time_s(zones.far, drawn.workflow, drawn.cluster));
                           return std::optional<Plan>();
                         }});
    return found_s;
  };
  for (const double time_s : searched({0.9})) {
    EXPECT_GE(time_s, quantile(times_s, 0.84));
    EXPECT_LE(time_s, quantile(times_s, 0.96));
  }
  const std::vector<double> spread = searched({});
  ASSERT_EQ(spread.size(), 4U);
  EXPECT_LT(spread.front(), quantile(times_s, 0.2));
  EXPECT_GT(spread.back(), quantile(times_s, 0.8));
}

// A percentile is that of the interval around the documented time, without sampling error; the draws of
// coefficients propose plans only.
TEST(RiskGoal, IsThePercentileOfTheSpreadThatIsKnown) {
  const LogSpread even{0.2, 0.2}, uneven{0.3, 0.1};
  EXPECT_NEAR(risk_of({0.5}, {100}, even), 100, 1e-9);
  EXPECT_NEAR(risk_of({0.95}, {100}, even), 100 * std::exp(1.6449 * 0.2), 0.01);
  EXPECT_NEAR(risk_of({0.5}, {100}, uneven), 100, 1e-9);
  EXPECT_NEAR(risk_of({0.05}, {100}, uneven), 100 * std::exp(-1.6449 * 0.3), 0.01);
  EXPECT_NEAR(risk_of({0.95}, {100}, uneven), 100 * std::exp(1.6449 * 0.1), 0.01);
  EXPECT_NEAR(risk_of({}, {100}, even), 100 * std::exp(0.02), 1e-9);
  // A length that doubles the time of every second iteration.
  const double p95_s = risk_of({0.95}, {100, 200}, even);
  EXPECT_NEAR(p95_s, 200 * std::exp(1.2816 * 0.2), 0.05);  // nine of ten of the longer ones
}

TEST(PlanForRisk, DrawsOfCoefficientsDoNotMoveTheMedian) {
  const TwoZones zones;
  CoefficientUncertainty slower;
  Coefficients coefficients;
  const auto value_of = [](CoefficientId id, double value) {
    Coefficient coefficient;
    coefficient.id = id;
    coefficient.value = value;
    return coefficient;
  };
  coefficients.values = {value_of(CoefficientId::prefill_efficiency, 0.1),
                         value_of(CoefficientId::training_efficiency, 0.1)};
  slower.draws.assign(16, coefficients);
  const auto draws = risk_draws(zones.request, slower, {0.1, 0.1}, 16, 1);
  RiskSearch search{RiskGoal{0.5}, draws, 2, [](const PlanRequest&) { return std::optional<Plan>(); }};
  const double documented_s = zones.time_s(zones.near, zones.workflow, zones.cluster);
  EXPECT_GT(plan_for_risk(zones.request, zones.near, search).at_goal_s, 1.5 * documented_s);
  search.spread_of = [](const Plan&) { return LogSpread{0.2, 0.2}; };
  EXPECT_NEAR(plan_for_risk(zones.request, zones.near, search).at_goal_s, documented_s, 0.01 * documented_s);
}

TEST(RiskGoal, HasAName) {
  EXPECT_EQ(name_of(RiskGoal{}), "mean");
  EXPECT_EQ(name_of(RiskGoal{0.9}), "p90");
  EXPECT_DOUBLE_EQ(risk_of({}, {1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(risk_of({0.5}, {1, 2, 6}), 2);
}

}  // namespace
}  // namespace sextant::test
