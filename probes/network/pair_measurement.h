// Everything that is measured between two hosts, one after another: round trips, one stream each way, several
// streams each way, datagrams. The host that leads measures; the other serves (services.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/network/datagrams.h"
#include "probes/network/round_trips.h"
#include "probes/network/streams.h"
#include "sextant/json.h"

namespace sextant {

struct PairOptions {
  double budget_s = 5;  // of each stream measurement, after its warm-up; round trips a fifth
  double target_spread_fraction = 0.02;
  int streams = 4;         // at once, beside one alone; 1: one alone is all
  double datagrams_s = 2;  // how long loss and jitter are watched; 0: not at all

  friend bool operator==(const PairOptions&, const PairOptions&) = default;
  static PairOptions parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;

  // At most, of a pair that far apart: nothing becomes stable before its budget is over.
  [[nodiscard]] double longest_s(double round_trip_s) const;
};

struct PairMeasurement {
  std::string from;  // the host that led
  std::string to;
  std::string time_utc;
  int round = 0;  // pairs of one round were measured at the same time; 0: alone, or not known
  RoundTrips round_trips;
  std::vector<StreamRate> rates;  // one stream there, one back, then several there, several back
  std::string why_fewer_rates;    // where several streams could not be measured in both directions
  std::optional<DatagramLoss> datagrams;
  std::string why_no_datagrams;  // where there are none

  // With that many streams; null when that was not measured.
  [[nodiscard]] const StreamRate* rate(Direction direction, int streams) const;

  friend bool operator==(const PairMeasurement&, const PairMeasurement&) = default;
  static PairMeasurement parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Names and time are the caller's. Error(machine) when round trips or one stream could not be measured; several
// streams and datagrams may be missing, with the reason. How long the parts may take follows from the round
// trip: of hosts far apart longer than the budget says. `datagram_ports`: of this host, where one is free.
[[nodiscard]] PairMeasurement measure_pair(const Endpoint& server, const Secret& secret,
                                           const PairOptions& options, const Deadline& deadline,
                                           const PortRange& datagram_ports = {});

}  // namespace sextant
