// Bandwidth of one TCP stream, or of several at once, in one direction, until it is stable.
//
// NCCL over TCP is as fast as its slowest socket times the number of sockets, so the rate of a single stream
// and the slowest of several matter in addition to their sum. Bytes are counted at the receiving program:
// payload, without headers. Data is random.
#pragma once

#include <optional>
#include <string>

#include "probes/network/handshake.h"
#include "probes/network/rate_meter.h"
#include "sextant/json.h"

namespace sextant::inline probes {

enum class Direction { there, back };  // from this host to the server, or from it

struct StreamOptions {
  int streams = 1;
  double budget_s = 5;  // see bins_budget_s
  double target_spread_fraction = 0.02;
  double round_trip_s = 0;  // bins and warm-up are long relative to it
};

struct StreamRate {
  Direction direction = Direction::there;
  int streams = 1;
  double bytes_per_s = 0;
  double spread_fraction = 0;
  double slowest_bytes_per_s = 0;  // the slowest single stream
  double seconds = 0;              // duration over which the median was taken
  bool is_stable = false;
  std::optional<double> retransmitted_fraction;  // of segments; only if this host sends and its kernel has it
  std::string sentence;

  friend bool operator==(const StreamRate&, const StreamRate&) = default;
  static StreamRate parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Uses bins of two round trips (50 ms to 1 s) after a warm-up of twenty (0.3 to 5 s).
[[nodiscard]] RateMeterOptions meter_options(const StreamOptions& options);

// Returns the maximum time of all bins: the budget, or for distant hosts the time of twice the minimum number
// of bins for a stable rate.
[[nodiscard]] double bins_budget_s(const StreamOptions& options);

// Returns the maximum time of measure_streams: connecting (all streams at once), warm-up, bins.
[[nodiscard]] double longest_s(const StreamOptions& options);

// Throws Error(machine) if a connection fails or breaks, or no data arrives.
[[nodiscard]] StreamRate measure_streams(const Endpoint& server, const Secret& secret, Direction direction,
                                         const StreamOptions& options, const Deadline& deadline);

}  // namespace sextant::inline probes
