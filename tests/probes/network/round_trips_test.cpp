#include "probes/network/round_trips.h"

#include <gtest/gtest.h>

#include "core/json_value.h"

namespace sextant {
namespace {

constexpr std::uint64_t kNow_ns = 1'790'000'000'000'000'000;
constexpr std::uint64_t kMicro = 1000;

// Both ways take as long as given, in microseconds; the other host's clock is `offset` ahead.
EchoTimes echo(std::uint64_t there, std::uint64_t back, std::uint64_t offset) {
  EchoTimes times;
  times.sent_ns = kNow_ns;
  times.received_there_ns = kNow_ns + (there + offset) * kMicro;
  times.sent_back_ns = times.received_there_ns + 5 * kMicro;
  times.received_ns = kNow_ns + (there + 5 + back) * kMicro;
  return times;
}

TEST(RoundTrips, TheQuickestOneTellsTheOffset) {
  const std::vector<EchoTimes> echoes = {echo(900, 100, 7000), echo(100, 100, 7000), echo(100, 800, 7000)};
  const RoundTrips result = summarise({1005e-6, 205e-6, 905e-6}, echoes, StopReason::converged);
  EXPECT_NEAR(result.clock_offset_s, 7000e-6, 1e-9);
  EXPECT_NEAR(result.clock_offset_error_s, 100e-6, 1e-9);
  EXPECT_DOUBLE_EQ(result.median_s, 905e-6);
  EXPECT_DOUBLE_EQ(result.min_s, 205e-6);
  EXPECT_DOUBLE_EQ(result.max_s, 1005e-6);
}

// Ways that differ shift the offset by half the difference, which the stated error covers.
TEST(RoundTrips, TheErrorOfTheOffsetCoversUnequalWays) {
  const RoundTrips result = summarise({405e-6}, {echo(300, 100, 0)}, StopReason::budget);
  EXPECT_NEAR(result.clock_offset_s, 100e-6, 1e-9);
  EXPECT_LE(std::abs(result.clock_offset_s), result.clock_offset_error_s);
}

TEST(RoundTrips, AClockBehindIsNegative) {
  EchoTimes times = echo(50, 50, 0);
  times.received_there_ns -= 3000 * kMicro;
  times.sent_back_ns -= 3000 * kMicro;
  EXPECT_NEAR(summarise({105e-6}, {times}, StopReason::budget).clock_offset_s, -3000e-6, 1e-9);
}

// With few samples the 99th percentile would be the largest, and say nothing.
TEST(RoundTrips, FewHaveNoP99) {
  std::vector<double> times_s(49, 1e-3);
  std::vector<EchoTimes> echoes(times_s.size(), echo(500, 500, 0));
  EXPECT_FALSE(summarise(times_s, echoes, StopReason::budget).p99_s.has_value());
  times_s.push_back(1e-3);
  echoes.push_back(echoes.front());
  const RoundTrips result = summarise(times_s, echoes, StopReason::budget);
  EXPECT_TRUE(result.p99_s.has_value());
  const Json json = result.to_json();
  EXPECT_EQ(RoundTrips::parse(JsonView(json)), result);
}

// The fewest samples are taken however far apart the hosts are.
TEST(RoundTrips, FarOnesTakeLonger) {
  const RoundTripOptions options;
  EXPECT_LT(longest_s(options, 1e-4), 2.2);
  EXPECT_GE(longest_s(options, 0.3), options.min_samples * 0.3);
}

TEST(RoundTrips, GoThroughJson) {
  const RoundTrips result =
      summarise({1e-3, 2e-3, 4e-3}, {echo(1, 2, 3), echo(1, 2, 3), echo(1, 2, 3)}, StopReason::max_samples);
  const Json json = result.to_json();
  EXPECT_EQ(RoundTrips::parse(JsonView(json)), result);
}

}  // namespace
}  // namespace sextant
