// Which tasks share which units: one form for every sharing, and steps that keep it.
#include "planner/sha_ea/device_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "planner/sha_ea/local_steps.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// Generation on all four units, actor training on two of them, critic training on the other two.
DeviceSets nested() { return {{0, 1, 2}, {{{0b011, 2}, {0b101, 2}}}}; }

TEST(DeviceSets, GroupsAreSetsThatDoNotOverlap) {
  const TaskGrouping grouping{{0, 1, 0}, 2};
  EXPECT_EQ(device_sets_of(grouping, {{2, 0}, {1, 3}}), (DeviceSets{{0, 1, 0}, {{{1, 2}, {2, 1}}, {{2, 3}}}}));
  const DeviceSets with_idle{{0, 1, 0}, {{{0, 1}, {1, 2}, {2, 1}}}};
  EXPECT_EQ(normalized(device_sets_of(grouping, {{2}, {1}, {1}})), with_idle) << "a third part is idle";
}

TEST(DeviceSets, OfMoreSetsThanItCanHoldTakesThoseMostAlike) {
  std::vector<std::vector<std::uint16_t>> units, devices;
  for (std::uint16_t u = 0; u < 70; ++u) {
    units.push_back({u});
    devices.push_back({u});  // 70 tasks, each on a device of its own
  }
  devices.push_back({0, 69});  // like the first task's more than any other
  const DeviceSets sharing = device_sets_of({{1, units}}, devices);
  EXPECT_EQ(sharing.sets(), kMaxSets);
  EXPECT_EQ(sharing.set_of[62], 62);
  EXPECT_EQ(sharing.set_of[70], 0);
  EXPECT_TRUE(has_no_empty_set(sharing));
}

TEST(DeviceSets, HasOneFormForSetsWithTheSameUnits) {
  // Sets 0 and 2 have the same units, set 1 has no task.
  const DeviceSets twice{{2, 0}, {{{0b101, 3}, {0b010, 1}}}};
  EXPECT_EQ(normalized(twice), (DeviceSets{{0, 0}, {{{0, 1}, {1, 3}}}}));
  EXPECT_EQ(normalized(nested()), nested());
}

TEST(DeviceSets, SetsThatHaveAllUnitsHaveIdleOnesToo) {
  // Sets 0 and 1 side by side, two units idle; then set 0 everywhere.
  DeviceSets sharing{{0, 1}, {{{0b01, 1}, {0b10, 3}}, {{0, 2}, {0b10, 1}}}};
  give_all_units(sharing, 0b01);
  EXPECT_EQ(normalized(sharing), (DeviceSets{{0, 1}, {{{0b01, 1}, {0b11, 3}}, {{0b01, 2}, {0b11, 1}}}}));
  give_all_units(sharing, 0b11);
  EXPECT_EQ(normalized(sharing), (DeviceSets{{0, 0}, {{{1, 4}}, {{1, 3}}}})) << "then they are one";
}

TEST(DeviceSets, IsDisjointWhereNoUnitIsInTwoSets) {
  EXPECT_TRUE(is_disjoint({{0, 1, 0}, {{{1, 2}, {2, 1}}, {{0, 1}, {2, 3}}}}));
  EXPECT_FALSE(is_disjoint({{0, 1, 0}, {{{1, 2}, {2, 1}}, {{0b11, 3}}}}));
  EXPECT_FALSE(is_disjoint(nested()));
}

TEST(DeviceSets, SetsAreNumberedByTheirFirstTask) {
  const DeviceSets turned{{1, 0}, {{{0b01, 1}, {0b10, 2}}}};
  EXPECT_EQ(normalized(turned), (DeviceSets{{0, 1}, {{{0b01, 2}, {0b10, 1}}}}));
}

TEST(DeviceSets, DevicesOfNestedSets) {
  const std::vector<UnitClass> classes = {{2, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}}};
  const auto devices = devices_of_sets(classes, nested());
  EXPECT_EQ(devices[0], (std::vector<std::uint16_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(devices[1], (std::vector<std::uint16_t>{0, 1, 2, 3}));
  EXPECT_EQ(devices[2], (std::vector<std::uint16_t>{4, 5, 6, 7}));
}

TEST(DeviceSets, OfThePlansDevicesIsTheOneTheyWereOf) {
  const std::vector<UnitClass> classes = {{2, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}}, {1, {{8}, {9}}}};
  const DeviceSets sharing{{0, 1, 0, 2}, {{{0, 1}, {0b011, 1}, {0b101, 2}}, {{0b001, 1}, {0b100, 1}}}};
  const auto of_sets = devices_of_sets(classes, sharing);
  EXPECT_EQ(device_sets_of(classes, {of_sets[0], of_sets[1], of_sets[0], of_sets[2]}), normalized(sharing));
  // Half of a unit is as good as all of it.
  EXPECT_EQ(device_sets_of(classes, {{0, 1, 2}, {8}}),
            (DeviceSets{{0, 1}, {{{0, 2}, {1, 2}}, {{0, 1}, {2, 1}}}}));
}

TEST(DeviceSets, IdleUnitsComeLast) {
  const std::vector<UnitClass> classes = {{1, {{0}, {1}, {2}, {3}}}};
  const auto devices = devices_of_sets(classes, {{0}, {{{0, 3}, {1, 1}}}});
  EXPECT_EQ(devices[0], (std::vector<std::uint16_t>{0}));
}

TEST(DeviceSets, FinerUnitsAreTheSameDevices) {
  const Cluster cluster = mixed_64();
  const std::vector<UnitClass> coarse = unit_classes(cluster, 8), fine = unit_classes(cluster, 32);
  DeviceSets sharing{{0, 1}, {}};
  for (const UnitClass& of_class : coarse) {
    sharing.regions.push_back({{1, 1}});
    if (of_class.count() > 1) sharing.regions.back().push_back({2, of_class.count() - 1});
  }
  const auto before = devices_of_sets(coarse, sharing);
  const auto after = devices_of_sets(fine, in_finer_units(sharing, coarse, fine));
  EXPECT_EQ(before, after);
}

using Devices = std::set<std::uint16_t>;

// The devices by task, whatever the numbers of the sets are.
std::vector<Devices> devices_of_tasks(const std::vector<UnitClass>& classes, const DeviceSets& sharing) {
  const auto of_sets = devices_of_sets(classes, sharing);
  std::vector<Devices> of_tasks;
  for (const int set : sharing.set_of) {
    const auto& devices = of_sets[static_cast<std::size_t>(set)];
    of_tasks.emplace_back(devices.begin(), devices.end());
  }
  return of_tasks;
}

void expect_whole(const std::vector<UnitClass>& classes, const DeviceSets& sharing) {
  EXPECT_EQ(normalized(sharing), sharing);
  EXPECT_TRUE(has_no_empty_set(sharing));
  for (std::size_t c = 0; c < classes.size(); ++c) {
    int units = 0;
    for (const Region& region : sharing.regions[c]) units += region.units;
    EXPECT_EQ(units, classes[c].count());
  }
}

TEST(Steps, KeepASharingWhole) {
  const std::vector<UnitClass> classes = unit_classes(mixed_64(), 16);
  std::mt19937_64 random(1);
  DeviceSets sharing{std::vector<int>(6, 0), {}};
  for (const UnitClass& of_class : classes) sharing.regions.push_back({{1, of_class.count()}});
  std::set<Step::Kind> kinds;
  bool has_overlap = false, has_idle = false;
  for (int walk = 0; walk < 3000; ++walk) {
    for (const Step& step : steps_from(sharing, ClimbedSets::disjoint, random)) {
      const std::optional<DeviceSets> after = applied(step, sharing);
      if (!after) continue;
      expect_whole(classes, *after);
      ASSERT_FALSE(*after == sharing);
      kinds.insert(step.kind);
      for (const std::vector<Region>& of_class : after->regions) {
        for (const Region& region : of_class) {
          has_overlap = has_overlap || (region.sets & (region.sets - 1)) != 0;
          has_idle = has_idle || region.sets == 0;
        }
      }
      sharing = *after;
      break;
    }
  }
  EXPECT_TRUE(has_overlap);
  EXPECT_TRUE(has_idle);
  EXPECT_EQ(kinds.size(), 11U) << "some kind of step was never taken";
}

// Each kind does what its name says: seen by the devices of the tasks.
TEST(Steps, GiveTasksTheDevicesThatTheySay) {
  const std::vector<UnitClass> classes = {{1, {{0}, {1}, {2}, {3}}}};
  const auto after = [&](const Step& step) { return devices_of_tasks(classes, *applied(step, nested())); };
  const std::vector<Devices> before = {{0, 1, 2, 3}, {0, 1}, {2, 3}};
  ASSERT_EQ(devices_of_tasks(classes, nested()), before);
  EXPECT_EQ(after({.kind = Step::Kind::join, .a = 1, .b = 2})[1].size(), 2U);
  EXPECT_EQ(after({.kind = Step::Kind::join, .a = 1, .b = 0})[1], before[0]);
  EXPECT_EQ(after({.kind = Step::Kind::take_all, .a = 2})[2], before[0]);
  EXPECT_EQ(after({.kind = Step::Kind::take_union, .a = 1, .b = 2})[1], before[0]);
  EXPECT_EQ(after({.kind = Step::Kind::take_difference, .a = 0, .b = 2})[0].size(), 2U);
  EXPECT_EQ(after({.kind = Step::Kind::take_half, .a = 1})[1].size(), 1U);
  EXPECT_EQ(after({.kind = Step::Kind::exchange_tasks, .a = 0, .b = 1})[0].size(), 2U);
  EXPECT_EQ(after({.kind = Step::Kind::merge, .a = 1, .b = 2}), (std::vector<Devices>(3, before[0])));
  // The whole of a region for the critic alone: generation keeps the rest.
  const auto alone =
      after({.kind = Step::Kind::take_region, .a = 2, .is_alone = true, .from = 0b101, .units = 2});
  EXPECT_EQ(alone[0].size(), 2U);
  EXPECT_EQ(alone[0], alone[1]);
  // One unit of actor training stays idle.
  const auto idle = after({.kind = Step::Kind::move_units, .from = 0b011, .to = 0, .units = 1});
  EXPECT_EQ(idle[0].size(), 3U);
  EXPECT_EQ(idle[1].size(), 1U);
  EXPECT_FALSE(applied({.kind = Step::Kind::move_units, .from = 0b011, .to = 0, .units = 2}, nested()))
      << "actor training would have no device";
}

TEST(Climb, EndsWhereNoStepIsBetter) {
  std::mt19937_64 random(1);
  DeviceSets sharing{{0, 0, 0}, {{{1, 4}}}};
  // Best: as nested.
  const auto distance = [](const DeviceSets& other) {
    const std::vector<UnitClass> classes = {{1, {{0}, {1}, {2}, {3}}}};
    const std::vector<Devices> wanted = {{0, 1, 2, 3}, {0, 1}, {2, 3}};
    const std::vector<Devices> devices = devices_of_tasks(classes, other);
    std::size_t sum = 0;
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      std::vector<std::uint16_t> differing;
      std::set_symmetric_difference(wanted[t].begin(), wanted[t].end(), devices[t].begin(), devices[t].end(),
                                    std::back_inserter(differing));
      sum += differing.size();
    }
    return sum;
  };
  std::size_t best = distance(sharing);
  climb(
      sharing, ClimbedSets::overlapping, random,
      [&](const DeviceSets& other) {
        if (distance(other) >= best) return false;
        best = distance(other);
        return true;
      },
      [] { return false; });
  EXPECT_EQ(best, 0U);
}

}  // namespace
}  // namespace sextant::test
