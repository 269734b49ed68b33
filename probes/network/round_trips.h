// Round trips of small messages over TCP, and the clock offset of the two hosts.
//
// A message of 32 bytes goes there and back, one after another, without Nagle's delay; waits block in the
// kernel (no busy waiting). The clock offset is NTP's: with t0, t3 this host's times of sending and receiving
// and t1, t2 the other's, ((t1 - t0) + (t2 - t3)) / 2, of the quickest round trip (RFC 5905, section 8); it is
// wrong by at most half of that round trip.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/harness/stopping_rule.h"
#include "probes/network/handshake.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct RoundTripOptions {
  double target_spread_fraction = 0.02;
  int min_samples = 50;
  int max_samples = 5000;
  double budget_s = 1;  // for distant hosts at least the time of the minimum samples
};

struct RoundTrips {
  int count = 0;
  double median_s = 0;
  double spread_fraction = 0;  // half the 95 % interval of the median / median
  double min_s = 0, p90_s = 0, max_s = 0;
  std::optional<double> p99_s;      // unset for few samples, where it would be the maximum
  double clock_offset_s = 0;        // the other host's clock minus this one's
  double clock_offset_error_s = 0;  // upper bound
  StopReason reason = StopReason::budget;

  friend bool operator==(const RoundTrips&, const RoundTrips&) = default;
  static RoundTrips parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// One echo: this host's times of sending and receiving, the other's of receiving and sending, ns since 1970.
struct EchoTimes {
  std::uint64_t sent_ns = 0, received_there_ns = 0, sent_back_ns = 0, received_ns = 0;
};

// Needs at least one echo; `times_s` are the round trips by a monotonic clock.
[[nodiscard]] RoundTrips summarise(const std::vector<double>& times_s, const std::vector<EchoTimes>& echoes,
                                   StopReason reason);

// Returns the maximum time for hosts at this distance.
[[nodiscard]] double longest_s(const RoundTripOptions& options, double round_trip_s);

// The first tenth (at least two) are warm-up. Throws Error(machine) if no message comes back.
[[nodiscard]] RoundTrips measure_round_trips(const Endpoint& server, const Secret& secret,
                                             const RoundTripOptions& options, const Deadline& deadline);

}  // namespace sextant::inline probes
