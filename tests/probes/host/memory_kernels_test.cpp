#include "probes/host/memory_kernels.h"

#include <gtest/gtest.h>

#include <vector>

namespace sextant {
namespace {

// Lengths around the 32 chains, so that the rest is covered too. Sums of small whole numbers are exact.
TEST(SumOf, IsExactForWholeNumbersOfAnyLength) {
  for (const std::size_t count : {0UL, 1UL, 31UL, 32UL, 33UL, 95UL, 1000UL}) {
    std::vector<double> values(count);
    double expected = 0;
    for (std::size_t at = 0; at < count; ++at) expected += values[at] = static_cast<double>(at % 17);
    EXPECT_EQ(sum_of(values.data(), count), expected) << count;
  }
}

TEST(Triad, AddsAndScales) {
  const std::vector<double> b = {1, 2, 3, 4, 5};
  const std::vector<double> c = {10, 20, 30, 40, 50};
  std::vector<double> a(5, -1);
  triad(a.data(), b.data(), c.data(), 3, 4);
  EXPECT_EQ(a, (std::vector<double>{31, 62, 93, 124, -1}));  // the fifth is not ours
}

TEST(CopyOf, Copies) {
  const std::vector<double> from = {1, 2, 3};
  std::vector<double> to(3, 0);
  copy_of(to.data(), from.data(), 2);
  EXPECT_EQ(to, (std::vector<double>{1, 2, 0}));
}

}  // namespace
}  // namespace sextant
