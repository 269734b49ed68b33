#include "ask/words/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace sextant::test {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"sha-ea", "exact", "exhaustive", "verl-colocated",
                                                    "verl-split"};

TEST(NearestName, FewLettersAway) {
  EXPECT_EQ(nearest_name("sha-ae", kNames), "sha-ea");  // two changed
  EXPECT_EQ(nearest_name("shaea", kNames), "sha-ea");
  EXPECT_EQ(nearest_name("EXACT", kNames), "exact");
  EXPECT_EQ(nearest_name("exhaustiv", kNames), "exhaustive");
  EXPECT_EQ(nearest_name("verl-spilt", kNames), "verl-split");
}

TEST(NearestName, OrTheFirstThatBeginsSo) {
  EXPECT_EQ(nearest_name("verl", kNames), "verl-colocated");
  EXPECT_EQ(nearest_name("exh", kNames), "exhaustive");
}

TEST(NearestName, NothingWhereNothingIsNear) {
  for (const char* written : {"", "simplex", "colocated", "a"})
    EXPECT_EQ(nearest_name(written, kNames), "") << written;
  EXPECT_EQ(nearest_name("sha-ea", {}), "");
}

}  // namespace
}  // namespace sextant::test
