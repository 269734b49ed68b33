#include "planner/explain/explain.h"

#include <gtest/gtest.h>

#include "planner/explain/change.h"
#include "tests/planner/explain/explain_case.h"

namespace sextant::test {
namespace {

TEST(Explain, ComparesWithEveryOtherQuickPlanner) {
  const ExplainedCase it;
  const Explanation explanation = explain(it.decided(), kQuick);
  EXPECT_EQ(explanation.iteration_s, it.result.prediction->iteration_s);
  EXPECT_EQ(explanation.draws, 0);
  EXPECT_FALSE(explanation.usd_per_iteration);
  std::vector<std::string> names;
  double before = 0;
  for (const Alternative& other : explanation.alternatives) {
    names.push_back(other.name);
    ASSERT_EQ(other.outcome, PlanOutcome::found) << other.name;
    EXPECT_NEAR(other.ratio, other.iteration_s / explanation.iteration_s, 1e-12);
    EXPECT_GE(other.ratio, before);
    EXPECT_FALSE(other.chance) << "of coefficients that nobody fitted";
    before = other.ratio;
  }
  for (const char* name : {"verl-colocated", "verl-split", "streamrl"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_EQ(std::find(names.begin(), names.end(), "sha-ea"), names.end());
  EXPECT_GT(names.size(), 3U);  // and other groupings
  EXPECT_FALSE(explanation.savings.empty());
  EXPECT_FALSE(explanation.flips.empty());
}

// The plan of a baseline, explained: the baseline itself is not among the rivals, and sha-ea is, better.
TEST(Explain, SaysWhichPlanIsBetter) {
  ExplainedCase it;
  it.planner = find_planner("verl-colocated");
  it.result = it.planner->plan(it.request);
  const Explanation explanation = explain(it.decided(), kQuick);
  ASSERT_FALSE(explanation.alternatives.empty());
  EXPECT_LT(explanation.alternatives.front().ratio, 1);
  EXPECT_TRUE(explanation.flips.empty());
}

TEST(Explain, KnowsItsOwnPlan) {
  ExplainedCase it;
  const PlanResult other = find_planner("streamrl")->plan(it.request);
  it.result = other;
  it.planner = find_planner("exact");  // who never is a rival, so that streamrl is
  const Explanation explanation = explain(it.decided(), kQuick);
  int same = 0;
  for (const Alternative& alternative : explanation.alternatives) {
    if (alternative.name != "streamrl") continue;
    EXPECT_TRUE(alternative.is_same);
    EXPECT_EQ(alternative.ratio, 1);
    EXPECT_TRUE(alternative.differences.empty());
    ++same;
  }
  EXPECT_EQ(same, 1);
}

TEST(WhatIf, NothingChangesWhereNothingIsChanged) {
  const ExplainedCase it;
  const WhatIf same = plan_what_if(it.decided(), {{"nothing"}, it.cluster});
  EXPECT_EQ(same.outcome, PlanOutcome::found);
  EXPECT_TRUE(same.keeps_plan);
  EXPECT_EQ(same.ratio, 1);
  EXPECT_EQ(*same.kept_iteration_s, it.result.prediction->iteration_s);
  EXPECT_TRUE(same.differences.empty());
}

// However badly the search does there: the old plan can still be run.
TEST(WhatIf, MoreMachinesAreNeverWorse) {
  ExplainedCase it;
  it.request.budget = {0, 1};
  const Cluster grown = changed(it.cluster, AddMachines{"a100", 2, ""});
  const WhatIf more = plan_what_if(it.decided(), {{"add:a100=2"}, grown});
  EXPECT_LE(more.ratio, 1);
  EXPECT_LE(more.iteration_s, *more.kept_iteration_s * (1 + 1e-9));
}

TEST(WhatIf, ADoubledClusterHalvesTheTime) {
  const ExplainedCase it;
  Cluster fast = it.cluster;
  for (const char* type : {"a100", "l40s"}) {
    for (const char* number : {"flop_per_s", "memory_bytes_per_s"})
      fast = changed(fast, ScaleDevices{type, number, 2});
  }
  for (const auto& [level, rate] : it.cluster.levels()) {
    fast = changed(fast, ChangeLinks{level, ChangeLinks::What::bytes_per_s, true, 2});
    fast = changed(fast, ChangeLinks{level, ChangeLinks::What::latency_s, true, 0.5});
  }
  const WhatIf half = plan_what_if(it.decided(), {{"all"}, fast});
  EXPECT_NEAR(half.ratio, 0.5, 1e-9);
}

TEST(WhatIf, WithoutItsMachinesThePlanCannotStay) {
  const ExplainedCase it;
  const WhatIf less = plan_what_if(it.decided(), {{"remove"}, changed(it.cluster, RemoveMachines{"a100", 1})});
  ASSERT_EQ(less.outcome, PlanOutcome::found);
  EXPECT_FALSE(less.kept_iteration_s);
  EXPECT_FALSE(less.keeps_plan);
  EXPECT_GT(less.ratio, 1);
}

TEST(WhatIf, SaysWhereNothingFits) {
  const ExplainedCase it;
  Cluster small = changed(it.cluster, ScaleDevices{"a100", "memory_bytes", 0.01});
  small = changed(small, ScaleDevices{"l40s", "memory_bytes", 0.01});
  const WhatIf none = plan_what_if(it.decided(), {{"small"}, small});
  EXPECT_EQ(none.outcome, PlanOutcome::infeasible);
  EXPECT_FALSE(none.message.empty());
  EXPECT_FALSE(none.kept_iteration_s);
}

}  // namespace
}  // namespace sextant::test
