// The upper levels of the search space against the paper's formulas and against counting by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "planner/request/counts.h"
#include "planner/request/groupings.h"
#include "planner/space/machines.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(TaskGroupings, OfThreeTasksByHand) {
  const std::vector<TaskGrouping> all = task_groupings(3);
  ASSERT_THAT(all, SizeIs(5));
  EXPECT_EQ(all[0], (TaskGrouping{{0, 0, 0}, 1}));
  EXPECT_EQ(all[1], (TaskGrouping{{0, 0, 1}, 2}));
  EXPECT_EQ(all[2], (TaskGrouping{{0, 1, 0}, 2}));
  EXPECT_EQ(all[3], (TaskGrouping{{0, 1, 1}, 2}));
  EXPECT_EQ(all[4], (TaskGrouping{{0, 1, 2}, 3}));
}

TEST(TaskGroupings, AreAsManyAsBellSays) {
  EXPECT_EQ(bell_number(6), 203);  // PPO's six tasks
  EXPECT_EQ(bell_number(4), 15);   // GRPO's four
  for (int tasks = 1; tasks <= 7; ++tasks) {
    const std::vector<TaskGrouping> all = task_groupings(tasks);
    EXPECT_EQ(static_cast<double>(all.size()), bell_number(tasks));
    std::set<std::vector<int>> distinct;
    std::vector<double> by_groups(static_cast<std::size_t>(tasks) + 1, 0);
    for (const TaskGrouping& grouping : all) {
      distinct.insert(grouping.group_of);
      EXPECT_EQ(*std::max_element(grouping.group_of.begin(), grouping.group_of.end()) + 1, grouping.groups);
      ++by_groups[static_cast<std::size_t>(grouping.groups)];
    }
    EXPECT_EQ(distinct.size(), all.size());
    for (int k = 1; k <= tasks; ++k)
      EXPECT_EQ(by_groups[static_cast<std::size_t>(k)], partitions_into(tasks, k));
  }
}

TEST(TaskGroupings, OfManyTasksAreSampled) {
  std::mt19937_64 random(1);
  const std::vector<TaskGrouping> some = sampled_groupings(100, 7, 500, random);
  ASSERT_THAT(some, SizeIs(500));
  EXPECT_EQ(some.front().groups, 1) << "all tasks together";
  std::set<std::vector<int>> distinct;
  for (const TaskGrouping& grouping : some) {
    distinct.insert(grouping.group_of);
    EXPECT_THAT(grouping.group_of, SizeIs(100));
    EXPECT_EQ(*std::max_element(grouping.group_of.begin(), grouping.group_of.end()) + 1, grouping.groups);
    EXPECT_LE(grouping.groups, 7);
    EXPECT_EQ(grouping.group_of.front(), 0) << "numbered as they first appear";
  }
  EXPECT_EQ(distinct.size(), some.size());
}

TEST(TaskGroupings, ASampleEndsWhereThereAreNoMore) {
  std::mt19937_64 random(1);
  EXPECT_THAT(sampled_groupings(9, 1, 100, random), SizeIs(1));
  EXPECT_THAT(sampled_groupings(3, 3, 1000, random), SizeIs(5));
}

TEST(TaskGroupings, InTwoAreAllOfFewTasksAndOneApartOfMany) {
  EXPECT_THAT(groupings_in_two(4), SizeIs(7));  // 2^3 - 1
  const std::vector<TaskGrouping> many = groupings_in_two(40);
  ASSERT_THAT(many, SizeIs(40));
  for (const TaskGrouping& grouping : many) EXPECT_EQ(grouping.groups, 2);
}

// Sizes of groups, one after another.
int sizes_by_hand(int gpus, int groups) {
  if (groups == 1) return gpus >= 1 ? 1 : 0;
  int out = 0;
  for (int first = 1; first < gpus; ++first) out += sizes_by_hand(gpus - first, groups - 1);
  return out;
}

TEST(Counts, GroupSizesAreCompositions) {
  for (int gpus = 1; gpus <= 12; ++gpus) {
    for (int groups = 1; groups <= 5; ++groups) {
      EXPECT_EQ(group_size_count(gpus, groups), sizes_by_hand(gpus, groups)) << gpus << " " << groups;
    }
  }
}

TEST(Counts, AssignmentsAreMultinomials) {
  EXPECT_EQ(assignment_count({2, 2}), 6);
  EXPECT_EQ(assignment_count({1, 2, 3}), 60);
  EXPECT_EQ(assignment_count({4}), 1);
}

TEST(Counts, DegreesByHand) {
  EXPECT_EQ(degree_count(1), 1);
  EXPECT_EQ(degree_count(2), 4);  // 1 1 1, and 2 in one of three places
  EXPECT_EQ(degree_count(4), 13);
  int by_hand = 0;
  for (int i = 1; i <= 16; ++i) {
    for (int j = 1; j <= 16; ++j) {
      for (int k = 1; k <= 16; ++k) by_hand += i * j * k <= 16 ? 1 : 0;
    }
  }
  EXPECT_EQ(degree_count(16), by_hand);
  EXPECT_EQ(mapping_count(4, 3), 64);
}

TEST(Counts, BinomialsStayWhole) {
  EXPECT_EQ(binomial(63, 5), 7028847);
  EXPECT_EQ(binomial(50, 25), 126410606437752.0);
  EXPECT_EQ(binomial(4, 5), 0);
  EXPECT_EQ(binomial(4, -1), 0);
  EXPECT_EQ(binomial(0, 0), 1);
}

// Taken literally the two levels of successive halving have 18.7 million arms at 64 GPUs; cut at the borders of
// eight machines, 4.9 thousand.
TEST(Counts, ArmsOfSuccessiveHalving) {
  EXPECT_EQ(arm_count(6, 64), 18722761);
  EXPECT_EQ(arm_count(6, 8), 4929);
  for (int tasks = 1; tasks <= 5; ++tasks) {
    double arms = 0;
    for (const TaskGrouping& grouping : task_groupings(tasks)) arms += sizes_by_hand(9, grouping.groups);
    EXPECT_EQ(arm_count(tasks, 9), arms);
  }
}

Cluster three_kinds() {
  return Cluster("mixed", {{"fast", device_type(100, 50)}, {"slow", device_type(40, 20)}},
                 {node("a0", "fast", 8), node("b0", "slow", 4), node("a1", "fast", 8), node("a2", "fast", 4)},
                 {{LinkLevel::within_node, link_rate(1, 100)}, {LinkLevel::within_zone, link_rate(2, 10)}});
}

TEST(Machines, AlikeOnesAreOneClass) {
  const std::vector<MachineClass> classes = machine_classes(three_kinds());
  ASSERT_THAT(classes, SizeIs(3));
  EXPECT_THAT(classes[0].machines, ElementsAre(NodeId{0}, NodeId{2}));
  EXPECT_EQ(classes[0].devices, 8);
  EXPECT_THAT(classes[1].machines, ElementsAre(NodeId{1}));
  EXPECT_THAT(classes[2].machines, ElementsAre(NodeId{3}));  // as fast, but half as many
  EXPECT_EQ(classes[2].devices, 4);
}

TEST(Machines, OtherZonesAndExceptionalLinksTellThemApart) {
  const Cluster whole = three_kinds();
  std::vector<Node> nodes = whole.nodes();
  nodes[2].zone = "elsewhere";
  std::map<LinkLevel, LinkRate> levels = whole.levels();
  levels[LinkLevel::within_region] = link_rate(3, 5);
  EXPECT_THAT(machine_classes(Cluster("zones", whole.device_types(), nodes, levels)), SizeIs(4));
  const LinkException cable{LinkScope::node, "a0", "b0", link_rate(9, 1), true};
  EXPECT_THAT(machine_classes(Cluster("cable", whole.device_types(), whole.nodes(), whole.levels(), {cable})),
              SizeIs(4));
}

TEST(Machines, DealsByHand) {
  // Two machines of one class and one of another to two groups: 3 x 2 ways, less the two that leave a group
  // empty.
  const std::vector<MachineClass> classes{{{NodeId{0}, NodeId{1}}, 8}, {{NodeId{2}}, 4}};
  const auto deals = machine_deals(classes, 2, 100);
  EXPECT_THAT(deals, SizeIs(4));
  EXPECT_EQ(machine_deal_count(classes, 2), 4);
  for (const std::vector<MachineShare>& deal : deals) {
    EXPECT_EQ(deal[0][0] + deal[1][0], 2);
    EXPECT_EQ(deal[0][1] + deal[1][1], 1);
  }
  EXPECT_THAT(machine_deals(classes, 2, 3), IsEmpty());    // more than wanted
  EXPECT_THAT(machine_deals(classes, 4, 100), IsEmpty());  // more groups than machines
}

TEST(Machines, DealsAreAsManyAsCounted) {
  for (int classes = 1; classes <= 3; ++classes) {
    std::vector<MachineClass> some;
    int next = 0;
    for (int c = 0; c < classes; ++c) {
      MachineClass machines;
      for (int m = 0; m <= c + 1; ++m) machines.machines.push_back(NodeId{next++});
      some.push_back(machines);
    }
    for (int groups = 1; groups <= 4; ++groups) {
      const auto deals = machine_deals(some, groups, 1'000'000);
      EXPECT_EQ(static_cast<double>(deals.size()), machine_deal_count(some, groups))
          << classes << " " << groups;
      EXPECT_EQ(std::set(deals.begin(), deals.end()).size(), deals.size());
    }
  }
  // One class: the literal count of machines in place of GPUs.
  MachineClass eight;
  for (int m = 0; m < 8; ++m) eight.machines.push_back(NodeId{m});
  for (int groups = 1; groups <= 6; ++groups) {
    EXPECT_EQ(machine_deal_count({eight}, groups), group_size_count(8, groups));
  }
}

}  // namespace
}  // namespace sextant::test
