#include "probes/network/pair_measurement.h"

#include <algorithm>

#include "core/json_value.h"

namespace sextant {
namespace {

constexpr double kRoundTripShare = 0.2;
constexpr double kHandshakes_s = 1;  // all of a pair together, beside what their round trips take

std::vector<int> stream_counts(const PairOptions& options) {
  return options.streams > 1 ? std::vector<int>{1, options.streams} : std::vector<int>{1};
}

}  // namespace

double PairOptions::longest_s(double round_trip_s) const {
  StreamOptions stream;
  stream.round_trip_s = round_trip_s;
  const double stream_s = budget_s + meter_options(stream).warm_up_s;
  const double round_trips_s = kRoundTripShare * budget_s * 1.1 + 3 * round_trip_s;
  const double loss_s = datagrams_s > 0 ? datagrams_s + 1 : 0;
  return 2 * static_cast<double>(stream_counts(*this).size()) * stream_s + round_trips_s + loss_s +
         kHandshakes_s;
}

PairMeasurement measure_pair(const Endpoint& server, const Secret& secret, const PairOptions& options,
                             const Deadline& deadline) {
  PairMeasurement pair;
  RoundTripOptions round_trips;
  round_trips.target_spread_fraction = options.target_spread_fraction;
  round_trips.budget_s = kRoundTripShare * options.budget_s;
  pair.round_trips = measure_round_trips(server, secret, round_trips, deadline);
  for (const int streams : stream_counts(options)) {
    for (const Direction direction : {Direction::there, Direction::back}) {
      const StreamOptions stream{streams, options.budget_s, options.target_spread_fraction,
                                 pair.round_trips.median_s};
      pair.rates.push_back(measure_streams(server, secret, direction, stream, deadline));
    }
  }
  if (options.datagrams_s <= 0) {
    pair.why_no_datagrams = "not asked for";
    return pair;
  }
  DatagramOptions datagrams;
  datagrams.seconds = options.datagrams_s;
  DatagramOutcome outcome = measure_datagrams(server, secret, datagrams, deadline);
  pair.datagrams = outcome.loss;
  pair.why_no_datagrams = std::move(outcome.why_not);
  return pair;
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
  view.allow_only({"from", "to", "time_utc", "round_trips", "rates", "datagrams", "why_no_datagrams"});
  PairMeasurement pair;
  pair.from = view.required("from").text();
  pair.to = view.required("to").text();
  pair.time_utc = view.required("time_utc").text();
  pair.round_trips = RoundTrips::parse(view.required("round_trips"));
  for (const JsonView& rate : view.required("rates").items()) pair.rates.push_back(StreamRate::parse(rate));
  if (const auto loss = view.optional("datagrams")) pair.datagrams = DatagramLoss::parse(*loss);
  if (const auto why = view.optional("why_no_datagrams")) pair.why_no_datagrams = why->text();
  if (pair.rate(Direction::there, 1) == nullptr || pair.rate(Direction::back, 1) == nullptr) {
    view.required("rates").fail("expected one stream in both directions");
  }
  return pair;
}

Json PairMeasurement::to_json() const {
  Json out = {{"from", from}, {"to", to}, {"time_utc", time_utc}, {"round_trips", round_trips.to_json()}};
  out["rates"] = Json::array();
  for (const StreamRate& rate : rates) out["rates"].push_back(rate.to_json());
  if (datagrams) out["datagrams"] = datagrams->to_json();
  if (!why_no_datagrams.empty()) out["why_no_datagrams"] = why_no_datagrams;
  return out;
}

}  // namespace sextant
