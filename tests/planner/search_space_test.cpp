#include "sextant/search_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/json_value.h"
#include "sextant/error.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

SearchLimits one_size() {
  SearchLimits limits;
  limits.micro_batch_sequences = {3};
  return limits;
}

Cluster devices(int count) {
  return Cluster("n", {{"fast", device_type(100, 50)}}, {node("a", "fast", count)},
                 {{LinkLevel::within_node, link_rate(1, 100)}});
}

std::vector<TaskPlan> layouts(int count, const SearchLimits& limits) {
  const Workflow workflow = small_workflow();
  return task_layouts(workflow.task("actor_training"), workflow, devices(count), limits);
}

TEST(SearchSpace, TwoDevicesByHand) {
  // {0}, {1} alone; {0, 1}: tp2, dp2, and pp2 in both orders.
  EXPECT_EQ(layouts(2, one_size()).size(), 2u + 1u + 1u + 2u);
}

TEST(SearchSpace, ThreeDevicesByHand) {
  // Singles 3; pairs 3 * 4 = 12; triples: tp3 does not divide 4 heads, dp3 1, pp3 3! = 6.
  EXPECT_EQ(layouts(3, one_size()).size(), 3u + 12u + 1u + 6u);
}

TEST(SearchSpace, FourDevicesByHand) {
  // Singles 4; pairs 6 * 4; triples 4 * 7; all four: tp4 1, dp4 1 (pp4 exceeds 3 layers), dp2 tp2 3, pp2 tp2 6,
  // dp2 pp2: ordered pairs of pairs, replicas unordered, 4! / 2 = 12.
  EXPECT_EQ(layouts(4, one_size()).size(), 4u + 24u + 28u + 1u + 1u + 3u + 6u + 12u);
}

TEST(SearchSpace, UnevenStagesAndSizesMultiply) {
  SearchLimits limits = one_size();
  limits.try_uneven_stages = true;  // pp2 of three layers: 1 + 2 and 2 + 1
  EXPECT_EQ(layouts(2, limits).size(), 2u + 1u + 1u + 2u * 2u);
  limits.try_recompute = true;
  EXPECT_EQ(layouts(2, limits).size(), 2 * (2u + 1u + 1u + 2u * 2u));
}

TEST(SearchSpace, EveryLayoutIsValidAndDifferent) {
  const Workflow workflow = small_workflow();
  const Cluster cluster = devices(4);
  std::set<std::string> seen;
  for (const TaskPlan& layout : layouts(4, one_size())) {
    EXPECT_NO_THROW(check_plan(same_everywhere(layout), workflow, cluster));
    Plan plan = same_everywhere(layout);
    EXPECT_TRUE(seen.insert(format_json(plan.to_json())).second);
  }
}

TEST(SearchSpace, MicroBatchesNeverExceedTheShare) {
  SearchLimits limits;
  limits.micro_batch_sequences = {1, 100, 200};
  for (const TaskPlan& layout : layouts(2, limits)) EXPECT_LE(layout.micro_batch_sequences, 12);
  EXPECT_EQ(layouts(1, limits).size(), 2u);  // 1, and the whole batch once
}

TEST(SearchSpace, RefusesWhatIsTooLarge) {
  EXPECT_THROW((void)layouts(20, one_size()), Error);
  SearchLimits limits = one_size();
  limits.max_layouts_per_task = 10;
  EXPECT_THROW((void)layouts(4, limits), Error);
}

}  // namespace
}  // namespace sextant::test
