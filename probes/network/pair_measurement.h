// All measurements between two hosts, one after another: round trips, one stream each way, several streams each
// way, datagrams. The leading host measures; the other serves (services.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/network/datagrams.h"
#include "probes/network/round_trips.h"
#include "probes/network/streams.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct PairOptions {
  double budget_s = 5;  // for each stream measurement, after its warm-up; round trips a fifth
  double target_spread_fraction = 0.02;
  int streams = 4;         // at once, in addition to a single one; 1: a single one only
  double datagrams_s = 2;  // how long loss and jitter are measured; 0: not at all

  friend bool operator==(const PairOptions&, const PairOptions&) = default;
  static PairOptions parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;

  // Returns the maximum time for a pair at this distance, in which each part uses its whole budget.
  [[nodiscard]] double longest_s(double round_trip_s) const;
};

struct PairMeasurement {
  std::string from;  // the host that led
  std::string to;
  std::string time_utc;
  int round = 0;  // pairs of one round were measured at the same time; 0: alone, or unknown
  RoundTrips round_trips;
  std::vector<StreamRate> rates;  // one stream there, one back, then several there, several back
  std::string why_fewer_rates;    // if several streams could not be measured in both directions
  std::optional<DatagramLoss> datagrams;
  std::string why_no_datagrams;  // if there are none

  // Returns the rate with that many streams; nullptr if it was not measured.
  [[nodiscard]] const StreamRate* rate(Direction direction, int streams) const;

  friend bool operator==(const PairMeasurement&, const PairMeasurement&) = default;
  static PairMeasurement parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// The caller sets names and time. Throws Error(machine) if round trips or one stream could not be measured;
// several streams and datagrams may be missing, with the reason. The time limits of the parts follow from the
// round trip: for distant hosts they exceed the budget. `datagram_ports`: of this host, if one is free.
[[nodiscard]] PairMeasurement measure_pair(const Endpoint& server, const Secret& secret,
                                           const PairOptions& options, const Deadline& deadline,
                                           const PortRange& datagram_ports = {});

}  // namespace sextant::inline probes
