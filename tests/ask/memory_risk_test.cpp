#include "ask/memory_risk.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::test {
namespace {

// A need with a deviation of a tenth exceeds the memory with 5 % where it is 1.6449 deviations below:
// exp(-0.16449).
TEST(ShareForRisk, IsTheQuantileOfANormalLogarithm) {
  EXPECT_NEAR(share_for_risk(0.05, 0.1), std::exp(-0.16449), 1e-5);
  EXPECT_NEAR(share_for_risk(0.01, 0.1), std::exp(-0.23263), 1e-5);
  EXPECT_NEAR(share_for_risk(0.5, 0.1), 1, 1e-12);
  EXPECT_EQ(share_for_risk(0.05, 0), 1);
}

}  // namespace
}  // namespace sextant::test
