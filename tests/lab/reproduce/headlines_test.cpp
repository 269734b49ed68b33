// These headlines of papers are computed from our figures.
#include "lab/reproduce/headlines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

Comparison figure(const std::string& group, double ours) {
  Comparison one;
  one.group = group;
  one.unit = "x";
  one.ours = ours;
  one.published_low = 1;
  one.published_high = 9;
  return one;
}

Headline headline(Headline::Of of, double published) {
  return {"gain", "abstract", {"sync", "async"}, of, published};
}

// 2, 3 and 7 of the two groups; 100 belongs to another.
std::vector<Comparison> figures() {
  Comparison none = figure("sync", 0);
  none.ours.reset();
  return {figure("sync", 2), figure("async", 3), figure("other", 100), figure("sync", 7), none};
}

TEST(Headlines, AMeanIsOverAllFiguresOfItsGroupsThatThereAre) {
  const auto all = compare_headlines({headline(Headline::Of::mean, 3.7)}, figures());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_DOUBLE_EQ(*all[0].ours, 4);
  EXPECT_TRUE(all[0].agrees);  // 3.33 to 4.07
  EXPECT_EQ(all[0].cell, "all 3 figures");
}

TEST(Headlines, TheLargestDisagreesWithASentence) {
  const auto all = compare_headlines({headline(Headline::Of::largest, 9.17)}, figures());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_DOUBLE_EQ(*all[0].ours, 7);
  EXPECT_FALSE(all[0].agrees);
  EXPECT_THAT(all[0].sentence, ::testing::HasSubstr("ours 7.00x, published 9.17x"));
}

TEST(Headlines, WithoutFiguresThereIsNone) {
  EXPECT_TRUE(compare_headlines({headline(Headline::Of::mean, 3)}, {figure("other", 2)}).empty());
}

}  // namespace
}  // namespace sextant
