// Bandwidth of one TCP stream, or of several at once, one way, until it is stable.
//
// NCCL over TCP is as fast as its slowest socket times the number of sockets, so what one stream gets, and the
// slowest of several, matter beside their sum. Bytes count where they arrive, as the program there reads them:
// payload, without headers. Data is random.
#pragma once

#include <optional>
#include <string>

#include "probes/network/handshake.h"
#include "probes/network/rate_meter.h"
#include "sextant/json.h"

namespace sextant {

enum class Direction { there, back };  // from this host to the server, or from it

struct StreamOptions {
  int streams = 1;
  double budget_s = 5;  // see bins_budget_s
  double target_spread_fraction = 0.02;
  double round_trip_s = 0;  // bins and warm-up are long against it
};

struct StreamRate {
  Direction direction = Direction::there;
  int streams = 1;
  double bytes_per_s = 0;
  double spread_fraction = 0;
  double slowest_bytes_per_s = 0;  // of one of the streams
  double seconds = 0;              // that the median is of
  bool is_stable = false;
  std::optional<double> retransmitted_fraction;  // of segments; only where this host sends and its kernel says
  std::string sentence;

  friend bool operator==(const StreamRate&, const StreamRate&) = default;
  static StreamRate parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Bins of two round trips (50 ms to 1 s) after twenty of them (0.3 to 5 s).
[[nodiscard]] RateMeterOptions meter_options(const StreamOptions& options);

// Most seconds for all bins: the budget, and of hosts far apart enough for twice the fewest bins that can be
// stable.
[[nodiscard]] double bins_budget_s(const StreamOptions& options);

// Most seconds that measure_streams takes in all: connecting (all streams at the same time), warm-up, bins.
[[nodiscard]] double longest_s(const StreamOptions& options);

// Error(machine) when a connection cannot be had or breaks, or nothing arrives.
[[nodiscard]] StreamRate measure_streams(const Endpoint& server, const Secret& secret, Direction direction,
                                         const StreamOptions& options, const Deadline& deadline);

}  // namespace sextant
