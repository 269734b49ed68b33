// Units of several sizes.
#include "planner/space/units.h"

#include <gtest/gtest.h>

#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// Every level holds every device once, in the same order within a class; a unit is a number of units of the
// next level.
void expect_nested(const Cluster& cluster, const std::vector<std::vector<UnitClass>>& levels) {
  ASSERT_FALSE(levels.empty());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    ASSERT_EQ(levels[l].size(), levels.front().size());
    int devices = 0;
    for (std::size_t c = 0; c < levels[l].size(); ++c) {
      std::vector<std::uint16_t> here, before;
      for (const auto& unit : levels[l][c].units) {
        EXPECT_EQ(static_cast<int>(unit.size()), levels[l][c].devices);
        here.insert(here.end(), unit.begin(), unit.end());
      }
      for (const auto& unit : levels.front()[c].units) before.insert(before.end(), unit.begin(), unit.end());
      EXPECT_EQ(here, before);
      devices += static_cast<int>(here.size());
      if (l > 0) {
        EXPECT_EQ(levels[l][c].count() % levels[l - 1][c].count(), 0);
      }
    }
    EXPECT_EQ(devices, cluster.device_count());
  }
  EXPECT_EQ(count_of(levels.back()), cluster.device_count()) << "the last are single devices";
}

TEST(UnitLevels, OfFewMachinesStartWithPartsOfThem) {
  const Cluster cluster = cluster_of({{"a100", 2}, {"l4", 1, 6}});
  const auto levels = unit_levels(cluster, 8);
  expect_nested(cluster, levels);
  EXPECT_GE(count_of(levels.front()), 8);
}

TEST(UnitLevels, OfAMachineOfSix) {
  const Cluster cluster = cluster_of({{"l4", 1, 6}});
  expect_nested(cluster, unit_levels(cluster, 2));
  expect_nested(cluster, unit_levels(cluster, 8));
}

TEST(UnitLevels, OfManyMachinesStartWithBlocks) {
  const Cluster cluster = cluster_of({{"a100", 50}, {"l40s", 35, 8, "z2"}, {"l4", 3, 4, "z3"}});
  const auto levels = unit_levels(cluster, 8);
  expect_nested(cluster, levels);
  EXPECT_LE(count_of(levels.front()), 4 * 8 + 3) << "a class may have a rest";
  EXPECT_GE(count_of(levels.front()), 8);
}

TEST(UnitLevels, OfOneDevice) {
  const Cluster cluster = cluster_of({{"a100", 1, 1}});
  expect_nested(cluster, unit_levels(cluster, 8));
}

}  // namespace
}  // namespace sextant::test
