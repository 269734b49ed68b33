#include "calibrate/difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

Coefficient with_error(CoefficientId id, double value, double error) {
  Coefficient c = coefficient(id, value);
  c.standard_error = error;
  return c;
}

TEST(Difference, NothingDiffersFromItself) {
  EXPECT_TRUE(differences(synthetic_truth(), synthetic_truth()).empty());
}

TEST(Difference, IsCountedInStandardErrorsOfBoth) {
  Coefficients before, after;
  before.values = {with_error(CoefficientId::training_efficiency, 0.5, 0.03),
                   with_error(CoefficientId::host_sharing, 0.5, 0.06)};
  after.values = {with_error(CoefficientId::training_efficiency, 0.6, 0.04),
                  with_error(CoefficientId::host_sharing, 0.7, 0.08)};
  const std::vector<CoefficientDifference> found = differences(before, after);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(*found[0].deviations, std::log(0.6 / 0.5) / 0.05, 1e-12);  // a factor
  EXPECT_NEAR(*found[1].deviations, 0.2 / 0.1, 1e-12);                   // a share
}

// One document tells device types apart and the other does not: each is held against what the other implies.
TEST(Difference, OwnersOfOneSideOnly) {
  Coefficients before, after;
  before.values = {with_error(CoefficientId::training_efficiency, 0.5, 0.03)};
  after = before;
  after.values.push_back(with_error(CoefficientId::training_efficiency, 0.4, 0.04));
  after.values.back().device_type = "a100";
  const std::vector<CoefficientDifference> found = differences(before, after);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].device_type, "a100");
  EXPECT_EQ(found[0].before, 0.5);
  EXPECT_NEAR(*found[0].deviations, std::log(0.4 / 0.5) / 0.05, 1e-12);
}

TEST(Difference, WithoutErrorsItIsUnknownHowFar) {
  Coefficients before, after;
  before.values = {coefficient(CoefficientId::training_efficiency, 0.5)};
  after.values = {with_error(CoefficientId::training_efficiency, 0.6, 0.01)};
  EXPECT_FALSE(differences(before, after).front().deviations.has_value());
}

}  // namespace
}  // namespace sextant::test
