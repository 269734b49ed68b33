#include "probes/harness/clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

TEST(SteadyClock, NeverGoesBack) {
  double last_s = steady_clock().now_s();
  for (int reading = 0; reading < 1000; ++reading) {
    const double now_s = steady_clock().now_s();
    ASSERT_GE(now_s, last_s);
    last_s = now_s;
  }
}

TEST(MeasureResolution, IsPositiveAndFinite) {
  const double resolution_s = measure_resolution_s(steady_clock());
  EXPECT_GT(resolution_s, 0);
  EXPECT_TRUE(std::isfinite(resolution_s));
}

// Stands still for three readings out of four, then jumps by a microsecond.
class CoarseClock final : public Clock {
 public:
  [[nodiscard]] double now_s() const override {
    const long jumps = ++readings_ / 4;
    return 1e-6 * static_cast<double>(jumps);
  }

 private:
  mutable long readings_ = 0;
};

TEST(MeasureResolution, FindsTheStepOfACoarseClock) {
  EXPECT_NEAR(measure_resolution_s(CoarseClock()), 1e-6, 1e-12);
}

}  // namespace
}  // namespace sextant
