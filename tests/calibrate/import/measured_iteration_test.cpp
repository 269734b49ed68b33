#include "calibrate/import/records/measured_iteration.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(MeasuredIterationTest, FindsLengthsWithAMean) {
  for (const double mean : {10.0, 500.0, 900.0, 980.0}) {
    EXPECT_NEAR(lengths_with_mean(mean, kUsualSigma, 1000).mean_tokens(), mean, 1e-6 * mean) << mean;
  }
  EXPECT_EQ(lengths_with_mean(1000, kUsualSigma, 1000), fixed_length(1000));
}

TEST(MeasuredIterationTest, FindsLengthsWithALongest) {
  const Lengths lengths = lengths_with_longest(200, 900, 1024, 4096);
  EXPECT_NEAR(lengths.mean_tokens(), 200, 1e-3);
  EXPECT_NEAR(lengths.longest_of(1024), 900, 1);
  EXPECT_EQ(lengths_with_longest(200, 5000, 1024, 4096), lengths_with_mean(200, kUsualSigma, 4096));
}

}  // namespace
}  // namespace sextant
