#include "sextant/error.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "sextant/ids.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

TEST(ErrorTest, CarriesItsKind) {
  EXPECT_EQ(message_of(ErrorKind::bad_input, [] { throw_bad_input("a"); }), "a");
  EXPECT_EQ(message_of(ErrorKind::machine, [] { throw_machine_failed("b"); }), "b");
}

TEST(CheckDeathTest, StopsWithTheExpression) {
  const int two = 2;
  EXPECT_NO_FATAL_FAILURE(SEXTANT_CHECK(two == 2));
  EXPECT_DEATH(SEXTANT_CHECK(two == 3), "bug: two == 3 does not hold at .*error_test.cpp");
}

TEST(IdTest, ComparesAndHashesByValue) {
  const std::unordered_set<DeviceId> devices{DeviceId{1}, DeviceId{2}, DeviceId{1}};
  EXPECT_EQ(devices.size(), 2U);
  EXPECT_LT(DeviceId{1}, DeviceId{2});
  EXPECT_EQ(NodeId{7}.index(), 7U);
}

}  // namespace
}  // namespace sextant
