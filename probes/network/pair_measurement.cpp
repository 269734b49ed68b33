#include "probes/network/pair_measurement.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr double kRoundTripShare = 0.2;
constexpr std::array kBothWays = {Direction::there, Direction::back};

RoundTripOptions round_trip_options(const PairOptions& options) {
  RoundTripOptions round_trips;
  round_trips.target_spread_fraction = options.target_spread_fraction;
  round_trips.budget_s = kRoundTripShare * options.budget_s;
  return round_trips;
}

DatagramOptions datagram_options(const PairOptions& options) {
  DatagramOptions datagrams;
  datagrams.seconds = options.datagrams_s;
  return datagrams;
}

// The time limit for the part after the round trips, which determine it.
double longest_rest_s(const PairOptions& options, double round_trip_s) {
  const StreamOptions stream{1, options.budget_s, options.target_spread_fraction, round_trip_s};
  const double both_ways_s = 2 * longest_s(stream);
  return (options.streams > 1 ? 2 : 1) * both_ways_s +
         (options.datagrams_s > 0 ? longest_s(datagram_options(options), round_trip_s) : 0);
}

class PairRun {
 public:
  PairRun(const Endpoint& server, const Secret& secret, const PairOptions& options, const Deadline& deadline,
          const PortRange& datagram_ports)
      : server_(server),
        secret_(secret),
        options_(options),
        deadline_(deadline),
        datagram_ports_(datagram_ports) {}

  PairMeasurement run() {
    pair_.round_trips = measure_round_trips(server_, secret_, round_trip_options(options_), deadline_);
    deadline_ = deadline_.or_in(longest_rest_s(options_, pair_.round_trips.median_s) + kSpare_s);
    for (const Direction direction : kBothWays) add_rate(direction, 1);
    if (options_.streams > 1) add_several();
    add_datagrams();
    return std::move(pair_);
  }

 private:
  static constexpr double kSpare_s = 20;  // each part has its own limit too

  void add_rate(Direction direction, int streams) {
    const StreamOptions stream{streams, options_.budget_s, options_.target_spread_fraction,
                               pair_.round_trips.median_s};
    pair_.rates.push_back(measure_streams(server_, secret_, direction, stream, deadline_));
  }

  void add_several() {
    for (const Direction direction : kBothWays) {
      try {
        add_rate(direction, options_.streams);
      } catch (const Error& error) {
        if (pair_.why_fewer_rates.empty()) pair_.why_fewer_rates = error.what();
      }
    }
  }

  void add_datagrams() {
    if (options_.datagrams_s <= 0) {
      pair_.why_no_datagrams = "not asked for";
      return;
    }
    try {
      DatagramOptions datagrams = datagram_options(options_);
      datagrams.ports = datagram_ports_;
      DatagramOutcome outcome = measure_datagrams(server_, secret_, datagrams, deadline_);
      pair_.datagrams = outcome.loss;
      pair_.why_no_datagrams = std::move(outcome.failure_reason);
    } catch (const Error& error) {
      pair_.why_no_datagrams = error.what();
    }
  }

  const Endpoint& server_;
  const Secret& secret_;
  const PairOptions& options_;
  Deadline deadline_;
  PortRange datagram_ports_;
  PairMeasurement pair_;
};

}  // namespace

double PairOptions::longest_s(double round_trip_s) const {
  return sextant::longest_s(round_trip_options(*this), round_trip_s) + longest_rest_s(*this, round_trip_s);
}

PairMeasurement measure_pair(const Endpoint& server, const Secret& secret, const PairOptions& options,
                             const Deadline& deadline, const PortRange& datagram_ports) {
  return PairRun(server, secret, options, deadline, datagram_ports).run();
}

const StreamRate* PairMeasurement::rate(Direction direction, int streams) const {
  const auto found = std::find_if(rates.begin(), rates.end(), [&](const StreamRate& rate) {
    return rate.direction == direction && rate.streams == streams;
  });
  return found == rates.end() ? nullptr : &*found;
}

PairOptions PairOptions::parse(const JsonView& view) {
  view.allow_only({"budget_s", "target_spread_fraction", "streams", "datagrams_s"});
  PairOptions options;
  options.budget_s = view.required("budget_s").positive();
  options.target_spread_fraction = view.required("target_spread_fraction").positive();
  options.streams = view.required("streams").count(1);
  options.datagrams_s = view.required("datagrams_s").non_negative();
  return options;
}

Json PairOptions::to_json() const {
  return {{"budget_s", budget_s},
          {"target_spread_fraction", target_spread_fraction},
          {"streams", streams},
          {"datagrams_s", datagrams_s}};
}

PairMeasurement PairMeasurement::parse(const JsonView& view) {
  view.allow_only({"from", "to", "time_utc", "round", "round_trips", "rates", "datagrams", "why_no_datagrams",
                   "why_fewer_rates"});
  PairMeasurement pair;
  pair.from = view.required("from").text();
  pair.to = view.required("to").text();
  pair.time_utc = view.required("time_utc").text();
  if (const auto round = view.optional("round")) pair.round = round->count(1);
  pair.round_trips = RoundTrips::parse(view.required("round_trips"));
  for (const JsonView& rate : view.required("rates").items()) pair.rates.push_back(StreamRate::parse(rate));
  if (const auto why = view.optional("why_fewer_rates")) pair.why_fewer_rates = why->text();
  if (const auto loss = view.optional("datagrams")) pair.datagrams = DatagramLoss::parse(*loss);
  if (const auto why = view.optional("why_no_datagrams")) pair.why_no_datagrams = why->text();
  if (pair.rate(Direction::there, 1) == nullptr || pair.rate(Direction::back, 1) == nullptr) {
    view.required("rates").fail("expected one stream in both directions");
  }
  return pair;
}

Json PairMeasurement::to_json() const {
  Json out = {{"from", from}, {"to", to}, {"time_utc", time_utc}, {"round_trips", round_trips.to_json()}};
  if (round > 0) out["round"] = round;
  out["rates"] = Json::array();
  for (const StreamRate& rate : rates) out["rates"].push_back(rate.to_json());
  if (!why_fewer_rates.empty()) out["why_fewer_rates"] = why_fewer_rates;
  if (datagrams) out["datagrams"] = datagrams->to_json();
  if (!why_no_datagrams.empty()) out["why_no_datagrams"] = why_no_datagrams;
  return out;
}

}  // namespace sextant::inline probes
