#include "probes/proxy/workload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/probes/proxy/fixture.h"

namespace sextant::proxy {
namespace {

TEST(Workload, FixedLengthsAreAllTheSame) {
  const Workload workload = make_workload(test::small_grpo(), 1);
  EXPECT_EQ(workload.sequences(), 8);
  EXPECT_EQ(workload.tokens(), 8U * 11U);
  EXPECT_EQ(workload.offset(3), 33U);
}

TEST(Workload, DrawnLengthsDependOnTheSeedOnly) {
  Workflow workflow = test::small_grpo();
  workflow.prompts = 200;
  workflow.response_tokens = {LengthKind::empirical, {3, 9}, {1, 3}, 0, 0, 0};
  const Workload workload = make_workload(workflow, 7);
  EXPECT_EQ(workload.response_tokens, make_workload(workflow, 7).response_tokens);
  EXPECT_NE(workload.response_tokens, make_workload(workflow, 8).response_tokens);
  const auto threes = std::count(workload.response_tokens.begin(), workload.response_tokens.end(), 3);
  const auto nines = std::count(workload.response_tokens.begin(), workload.response_tokens.end(), 9);
  EXPECT_EQ(threes + nines, 400);
  EXPECT_GT(threes, 60);  // 100 expected; 60 is more than four standard deviations away
  EXPECT_LT(threes, 140);
}

TEST(Workload, LognormalLengthsStayWithinTheMaximum) {
  Workflow workflow = test::small_grpo();
  workflow.prompts = 100;
  workflow.response_tokens = {LengthKind::lognormal, {}, {}, 8, 1.5, 20};
  const Workload workload = make_workload(workflow, 3);
  for (const int tokens : workload.response_tokens) {
    EXPECT_GE(tokens, 1);
    EXPECT_LE(tokens, 20);
  }
  EXPECT_EQ(std::count(workload.response_tokens.begin(), workload.response_tokens.end(), 20) > 0, true);
}

TEST(Workload, CutsCoverTheRange) {
  const auto by_size = cut_by_size({3, 10}, 3);
  ASSERT_EQ(by_size.size(), 3U);
  EXPECT_EQ(by_size.back().size(), 1);
  const auto even = cut_evenly({0, 7}, 3);
  EXPECT_EQ(even[0].size(), 3);
  EXPECT_EQ(even[2].end, 7);
}

TEST(Workload, ReplicasTakeTheirShares) {
  TaskPlan plan;
  plan.replicas = {test::make_replica({test::make_stage(3, {0})}, 0.75),
                   test::make_replica({test::make_stage(3, {1})}, 0.25)};
  EXPECT_EQ(replica_range(plan, 0, {8, 16}).end, 14);
  EXPECT_EQ(replica_range(plan, 1, {8, 16}).begin, 14);
  EXPECT_EQ(replica_range(plan, 1, {8, 16}).end, 16);
}

}  // namespace
}  // namespace sextant::proxy
