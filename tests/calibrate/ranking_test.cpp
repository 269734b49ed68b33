#include "calibrate/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

TEST(Ranking, ASignTestTellsApart) {
  // Two-sided, a fair coin: 12 of 15 at 3.5 %, 11 of 15 at 11.8 %, 5 of 5 at 6.3 %, 6 of 6 at 3.1 %.
  EXPECT_TRUE(told_apart(12, 15));
  EXPECT_TRUE(told_apart(3, 15));
  EXPECT_FALSE(told_apart(11, 15));
  EXPECT_FALSE(told_apart(5, 5));
  EXPECT_TRUE(told_apart(0, 6));
}

TEST(Ranking, OnlyPairsThatTheRoundsTellApartCount) {
  // The first two take turns in winning; the third is always slower.
  const std::vector<std::vector<double>> samples{{1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1}, {3, 3, 3, 3, 3, 3}};
  const RankAgreement right = rank_agreement(samples, std::vector<double>{2, 1, 3});
  EXPECT_EQ(right.pairs, 2);
  EXPECT_EQ(right.tau, 1);
  EXPECT_EQ(rank_agreement(samples, std::vector<double>{1, 4, 3}).tau, 0);  // one right, one wrong
  EXPECT_EQ(rank_agreement(samples, std::vector<double>{4, 5, 3}).tau, -1);
}

TEST(Ranking, RegretIsThatOfThePlanPredictedFastest) {
  const std::vector<double> measured_s{2, 3, 4};
  EXPECT_EQ(regret_fraction(measured_s, std::vector<double>{1, 5, 9}), 0);
  EXPECT_EQ(regret_fraction(measured_s, std::vector<double>{9, 1, 5}), 0.5);
  EXPECT_EQ(regret_fraction(measured_s, std::vector<double>{1, 5, 1}), 1);  // of two predicted alike the slower
}

Run run_of(const std::string& workflow, const std::string& cluster, const std::string& framework,
           const std::string& plan) {
  Run run;
  run.workflow = workflow;
  run.cluster = cluster;
  run.framework = framework;
  run.plan = plan;
  return run;
}

TEST(PlanOrder, IsOverPlansOfOneWorkflowClusterAndFramework) {
  const std::vector<sextant::Run> runs{run_of("w", "c", "f", "a"), run_of("w", "c", "f", "b"),
                                       run_of("w", "c", "f", "d"), run_of("v", "c", "f", "a"),
                                       run_of("v", "c", "f", "b"),
                                       // No alternatives: another cluster, another framework.
                                       run_of("w", "e", "f", "b"), run_of("w", "c", "g", "b")};
  const std::vector<ComparedIteration> compared{{&runs[0], 10, 2}, {&runs[1], 11, 1},
                                                {&runs[2], 12, 3},  // one of three pairs the other way round
                                                {&runs[3], 20, 5}, {&runs[4], 30, 6},  // in order
                                                {&runs[5], 1, 99}, {&runs[6], 99, 1}};
  const std::optional<PlanOrder> order = order_of_plans(compared);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->groups, 2);
  EXPECT_EQ(order->pairs, 4);
  EXPECT_DOUBLE_EQ(order->kendall_tau, (1.0 / 3 * 3 + 1 * 1) / 4);
  EXPECT_NEAR(order->worst_regret_fraction, 0.1, 1e-12);  // b for a
  EXPECT_NEAR(order->mean_regret_fraction, 0.05, 1e-12);
  EXPECT_THAT(describe(order), HasSubstr("(2 groups, 4 pairs): Kendall tau 0.500; "));
  EXPECT_THAT(describe(order), HasSubstr("slower than the fastest by 5.0 % on average and 10.0 % at worst"));
}

TEST(PlanOrder, RunsOfOnePlanCountOnce) {
  const std::vector<sextant::Run> runs{run_of("w", "c", "f", "a"), run_of("w", "c", "f", "b")};
  // The medians of a are 10 and 2: slower than b, and predicted faster.
  const std::vector<ComparedIteration> compared{
      {&runs[0], 10, 2}, {&runs[0], 1, 1}, {&runs[0], 11, 9}, {&runs[1], 8, 3}};
  const std::optional<PlanOrder> order = order_of_plans(compared);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->pairs, 1);
  EXPECT_EQ(order->kendall_tau, -1);
  EXPECT_NEAR(order->worst_regret_fraction, 0.25, 1e-12);
}

TEST(PlanOrder, WithoutAlternativesThereIsNone) {
  const std::vector<sextant::Run> runs{run_of("w", "c", "f", "a"), run_of("v", "c", "f", "b")};
  const std::vector<ComparedIteration> compared{{&runs[0], 1, 1}, {&runs[0], 2, 1}, {&runs[1], 2, 2}};
  EXPECT_FALSE(order_of_plans(compared).has_value());
  EXPECT_FALSE(order_of_plans({}).has_value());
  EXPECT_THAT(describe(std::nullopt), HasSubstr("No two held-out plans are alternatives"));
}

}  // namespace
}  // namespace sextant::test
