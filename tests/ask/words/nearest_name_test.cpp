#include "ask/words/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace sextant::test {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"sha-ea", "exact", "exhaustive", "verl-colocated",
                                                    "verl-split"};

TEST(NearestName, FewLettersAway) {
  EXPECT_EQ(nearest_name("sha-ae", kNames), "sha-ea");  // two swapped
  EXPECT_EQ(nearest_name("shaea", kNames), "sha-ea");
  EXPECT_EQ(nearest_name("EXACT", kNames), "exact");
  EXPECT_EQ(nearest_name("exhaustiv", kNames), "exhaustive");
  EXPECT_EQ(nearest_name("verl-spilt", kNames), "verl-split");
}

TEST(NearestName, OrTheFirstThatBeginsSo) {
  EXPECT_EQ(nearest_name("verl", kNames), "verl-colocated");
  EXPECT_EQ(nearest_name("exh", kNames), "exhaustive");
}

TEST(NearestName, SwappedLettersAreOneChange) {
  constexpr std::array<std::string_view, 3> kFrameworks = {"areal", "trl", "verl"};
  EXPECT_EQ(nearest_name("vrel", kFrameworks), "verl");
}

// One change leads to each of them.
TEST(NearestName, OfEquallyNearTheOneThatBeginsAlike) {
  constexpr std::array<std::string_view, 4> kGpus = {"a10", "h100", "h20", "l40"};
  EXPECT_EQ(nearest_name("H10", kGpus), "h100");
  EXPECT_EQ(nearest_name("l20", kGpus), "l40");
}

TEST(NearestName, NothingWhereNothingIsNear) {
  for (const char* written : {"", "simplex", "colocated", "a"})
    EXPECT_EQ(nearest_name(written, kNames), "") << written;
  EXPECT_EQ(nearest_name("sha-ea", {}), "");
}

}  // namespace
}  // namespace sextant::test
