// Both ends in this process, over 127.0.0.1.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "core/json_value.h"
#include "probes/network/doorkeeper.h"
#include "probes/network/pair_measurement.h"
#include "probes/network/services.h"
#include "probes/network/wire.h"
#include "sextant/error.h"
#include "tests/probes/patience.h"

namespace sextant {
namespace {

PairOptions short_options() {
  PairOptions options;
  options.budget_s = 0.3;
  options.target_spread_fraction = 0.2;
  options.streams = 3;
  options.datagrams_s = 0.1;
  return options;
}

class LoopbackTest : public ::testing::Test {
 protected:
  Secret secret_ = Secret::fresh();
  ProbeListener host_{secret_, {}, serve};
  Endpoint endpoint_{"127.0.0.1", host_.port()};
  Deadline deadline_ = Deadline::in(kPatience_s);
};

TEST_F(LoopbackTest, APairIsMeasuredWhole) {
  const PairMeasurement pair = measure_pair(endpoint_, secret_, short_options(), deadline_);
  EXPECT_GT(pair.round_trips.median_s, 0);
  EXPECT_LE(pair.round_trips.min_s, pair.round_trips.median_s);
  EXPECT_LE(pair.round_trips.median_s, pair.round_trips.p99_s.value_or(1));
  // One host, one clock.
  EXPECT_LE(std::abs(pair.round_trips.clock_offset_s), pair.round_trips.clock_offset_error_s + 1e-6);
  ASSERT_EQ(pair.rates.size(), 4U);
  for (const Direction direction : {Direction::there, Direction::back}) {
    for (const int streams : {1, 3}) {
      const StreamRate* rate = pair.rate(direction, streams);
      ASSERT_NE(rate, nullptr);
      EXPECT_GT(rate->bytes_per_s, 1e6);
      // The slowest stream's is a mean, all streams' a median: of bins that differ much they may lie apart.
      if (rate->is_stable) {
        EXPECT_LE(rate->slowest_bytes_per_s * streams, 1.5 * rate->bytes_per_s);
      }
    }
  }
  ASSERT_TRUE(pair.datagrams.has_value()) << pair.why_no_datagrams;
  EXPECT_GT(pair.datagrams->returned, 0);
  EXPECT_EQ(host_.refusals().total(), 0U);
  EXPECT_EQ(host_.admitted(), 1U + 2 * (1 + 3) + 1);
}

TEST_F(LoopbackTest, APairGoesThroughJson) {
  PairMeasurement pair = measure_pair(endpoint_, secret_, short_options(), deadline_);
  pair.from = "a";
  pair.to = "b";
  pair.time_utc = "2026-11-24T00:00:00Z";
  const Json json = pair.to_json();
  EXPECT_EQ(PairMeasurement::parse(JsonView(json)), pair);
}

TEST_F(LoopbackTest, DatagramsAreLeftOutWhenNobodyAsks) {
  PairOptions options = short_options();
  options.datagrams_s = 0;
  options.streams = 1;
  const PairMeasurement pair = measure_pair(endpoint_, secret_, options, deadline_);
  EXPECT_FALSE(pair.datagrams.has_value());
  EXPECT_EQ(pair.why_no_datagrams, "not asked for");
  EXPECT_EQ(pair.rates.size(), 2U);
}

// Results are kept when a later part of the pair fails.
TEST(PairMeasurement, KeepsWhatItHasWhenALaterPartFails) {
  const Secret secret = Secret::fresh();
  const auto no_datagrams = [](const Connection& connection, const Request& request) {
    if (request.service == Service::datagrams) throw_machine_failed("not here");
    serve(connection, request);
  };
  ProbeListener host(secret, {}, no_datagrams, {kPatience_s, 8, 2});  // two connections at once, of three
  const PairMeasurement pair =
      measure_pair({"127.0.0.1", host.port()}, secret, short_options(), Deadline::in(kPatience_s));
  EXPECT_EQ(pair.rates.size(), 2U);
  EXPECT_FALSE(pair.why_fewer_rates.empty());
  EXPECT_FALSE(pair.datagrams.has_value());
  EXPECT_FALSE(pair.why_no_datagrams.empty());
}

// A host that is too busy to be heard of within the budget is waited for a little.
TEST(PairMeasurement, WaitsForABusyHost) {
  const Secret secret = Secret::fresh();
  ProbeListener host(secret, {}, [](const Connection& connection, const Request& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    serve(connection, request);
  });
  StreamOptions stream;
  stream.budget_s = 0.1;
  const StreamRate rate =
      measure_streams({"127.0.0.1", host.port()}, secret, Direction::there, stream, Deadline::in(kPatience_s));
  EXPECT_GT(rate.bytes_per_s, 0);
}

// Nor is it nothing that came when most of a short budget's intervals were empty.
TEST(PairMeasurement, WaitsForAHostThatTakesNothingAtFirst) {
  const Secret secret = Secret::fresh();
  const Deadline deadline = Deadline::in(kPatience_s);
  ProbeListener host(secret, {}, [&](const Connection& connection, const Request& request) {
    const Deadline idle = Deadline::in(0.7);
    while (!idle.is_over()) {
      std::array<std::byte, kReportBytes> nothing_taken{};
      store_number(std::span(nothing_taken).first(8), steady_clock_ns());
      send_all(connection.socket, nothing_taken, deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    serve(connection, request);
  });
  StreamOptions stream;
  stream.budget_s = 0.1;
  const StreamRate rate =
      measure_streams({"127.0.0.1", host.port()}, secret, Direction::there, stream, deadline);
  EXPECT_GT(rate.bytes_per_s, 0);
}

// Slow start takes a number of round trips, but neither less than 0.3 s nor more than 5 s are left out.
TEST(Streams, WarmUpFollowsTheRoundTripWithinLimits) {
  const auto warm_up_s = [](double round_trip_s) {
    StreamOptions stream;
    stream.round_trip_s = round_trip_s;
    return meter_options(stream).warm_up_s;
  };
  EXPECT_DOUBLE_EQ(warm_up_s(1e-5), 0.3);
  EXPECT_DOUBLE_EQ(warm_up_s(10), 5);
  EXPECT_DOUBLE_EQ(warm_up_s(0.1) / warm_up_s(0.08), 1.25);
}

// However far apart: every stream has time for twice the bins that it needs, and the whole for all its parts.
TEST(PairMeasurement, TheLimitFollowsFromTheRoundTrip) {
  constexpr double kHandshakes = 6 * 3;  // round trips, all streams of a part at the same time
  const PairOptions options;
  double before_s = 0;
  for (const double round_trip_s : {1e-5, 1e-3, 0.03, 0.15, 0.25, 0.5, 1.0}) {
    StreamOptions stream;
    stream.round_trip_s = round_trip_s;
    const RateMeterOptions meter = meter_options(stream);
    EXPECT_GE(meter.bin_s, std::min(2 * round_trip_s, 1.0));
    EXPECT_GE(bins_budget_s(stream), 2 * meter.min_bins * std::min(2 * round_trip_s, 1.0));
    EXPECT_GE(bins_budget_s(stream), options.budget_s);
    const double sampling_s = 50 * round_trip_s;
    EXPECT_GE(options.longest_s(round_trip_s), 4 * (bins_budget_s(stream) + meter.warm_up_s) + sampling_s +
                                                   kHandshakes * round_trip_s + options.datagrams_s);
    EXPECT_GE(options.longest_s(round_trip_s), before_s);
    before_s = options.longest_s(round_trip_s);
  }
}

// A budget that somebody chose is kept where hosts are near.
TEST(PairMeasurement, NearHostsTakeNoMoreThanTheBudget) {
  StreamOptions stream;
  stream.budget_s = 0.2;
  stream.round_trip_s = 1e-3;
  EXPECT_DOUBLE_EQ(bins_budget_s(stream), 0.2);
}

TEST_F(LoopbackTest, AnotherSecretIsRefusedAndCounted) {
  EXPECT_THROW(static_cast<void>(measure_pair(endpoint_, Secret::fresh(), short_options(), deadline_)), Error);
  EXPECT_EQ(host_.refusals().wrong_secret, 1U);
  EXPECT_EQ(host_.admitted(), 0U);
}

// A server that speaks the protocol but was never given the secret.
TEST_F(LoopbackTest, AnImpostorIsNotMeasured) {
  const Secret other = Secret::fresh();
  ProbeListener impostor(other, {}, serve);
  try {
    static_cast<void>(measure_pair({"127.0.0.1", impostor.port()}, secret_, short_options(), deadline_));
    FAIL() << "measured";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
  }
}

TEST_F(LoopbackTest, ADeadlineEndsAMeasurement) {
  PairOptions options = short_options();
  options.budget_s = 1000;
  options.target_spread_fraction = 1e-12;
  const Deadline soon = Deadline::in(0.8);
  EXPECT_THROW(static_cast<void>(measure_pair(endpoint_, secret_, options, soon)), Error);
  EXPECT_LT(-soon.left_s(), kPatience_s);
}

TEST(ProbeListener, HangsUpOnThoseItServesWhenItStops) {
  const Secret secret = Secret::fresh();
  Connection connection;
  {
    ProbeListener host(secret, {}, serve);
    connection =
        request_service({"127.0.0.1", host.port()}, secret, {Service::echo, 3600}, Deadline::in(kPatience_s));
  }
  std::byte one{};
  EXPECT_THROW(receive_all(connection.socket, {&one, 1}, Deadline::in(kPatience_s)), Error);
}

TEST(ProbeListener, TakesAPortOfTheRange) {
  const Secret secret = Secret::fresh();
  ProbeListener first(secret, {}, serve);
  const std::uint16_t taken = first.port();
  if (taken == 65535) GTEST_SKIP() << "no port after this one";
  EXPECT_THROW(ProbeListener(secret, {taken, taken}, serve), Error);
}

}  // namespace
}  // namespace sextant
