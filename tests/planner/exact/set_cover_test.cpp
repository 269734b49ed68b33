#include "planner/exact/set_cover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;

// Half of each pair covers three elements for 1.5; whole sets need two of them.
TEST(SetCover, PricesAndCoversATriangle) {
  SetCover cover({10, 10, 10});
  if (!cover.has_solver()) GTEST_SKIP() << "no solver of linear programs";
  EXPECT_TRUE(cover.add({{0, 1}, 1}));
  EXPECT_TRUE(cover.add({{2, 1}, 1}));
  EXPECT_TRUE(cover.add({{0, 2}, 1}));
  EXPECT_FALSE(cover.add({{2, 0}, 1}));
  const SetCover::Prices relaxed = cover.prices();
  EXPECT_NEAR(relaxed.cost, 1.5, 1e-9);
  EXPECT_THAT(relaxed.prices, Each(DoubleNear(0.5, 1e-9)));
  double cost = 0;
  std::vector<int> times(3, 0);
  for (const CostedSet& set : cover.cover()) {
    cost += set.cost;
    for (const int element : set.elements) ++times[static_cast<std::size_t>(element)];
  }
  EXPECT_EQ(cost, 2);
  EXPECT_THAT(times, Each(::testing::Ge(1)));
}

// A cheaper set of the same elements replaces the price, and an element that no pair has is covered alone.
TEST(SetCover, TakesTheCheaperOfEqualSetsAndElementsAlone) {
  SetCover cover({4, 4, 7});
  if (!cover.has_solver()) GTEST_SKIP() << "no solver of linear programs";
  EXPECT_TRUE(cover.add({{0, 1}, 6}));
  EXPECT_TRUE(cover.add({{0, 1}, 5}));
  EXPECT_NEAR(cover.prices().cost, 12, 1e-9);
  double cost = 0;
  for (const CostedSet& set : cover.cover()) cost += set.cost;
  EXPECT_EQ(cost, 12);
}

}  // namespace
}  // namespace sextant
