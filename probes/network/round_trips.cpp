#include "probes/network/round_trips.h"

#include <algorithm>
#include <array>

#include "core/json_value.h"
#include "probes/harness/clock.h"
#include "probes/network/services.h"
#include "probes/network/wire.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

constexpr double kWarmUpShare = 0.1;
constexpr int kMinWarmUp = 2;
constexpr int kMinForP99 = 50;
constexpr double kMaxConnect_s = 10;  // of hosts of which nothing is known yet
constexpr double kVariation = 1.2;    // round trips are not all as quick as the first
constexpr double kShareOfWhatIsLeft = 0.8;
constexpr std::array<std::string_view, 3> kReasons = {"converged", "budget", "most_samples"};

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return static_cast<double>(static_cast<std::int64_t>(to_ns - from_ns)) * 1e-9;
}

EchoTimes exchange(const Descriptor& socket, std::uint64_t number, const Deadline& deadline) {
  std::array<std::byte, kEchoBytes> message{};
  const auto part = [&](std::size_t i) { return std::span(message).subspan(8 * i, 8); };
  store_number(part(0), number);
  EchoTimes echo;
  echo.sent_ns = wall_clock_ns();
  store_number(part(1), echo.sent_ns);
  send_all(socket, message, deadline);
  receive_all(socket, message, deadline);
  echo.received_ns = wall_clock_ns();
  echo.received_there_ns = load_number(part(2));
  echo.sent_back_ns = load_number(part(3));
  if (load_number(part(0)) != number || load_number(part(1)) != echo.sent_ns) {
    throw_machine_failed("a message came back changed");
  }
  return echo;
}

double sampling_budget_s(const RoundTripOptions& options, double round_trip_s) {
  return std::max(options.budget_s, kVariation * options.min_samples * round_trip_s);
}

// The estimate of the offset from one echo: off by at most half of the time on the network.
struct Offset {
  double offset_s = 0;
  double error_s = 0;
};

Offset offset_of(const EchoTimes& echo) {
  const double there_s = seconds_between(echo.sent_ns, echo.received_there_ns);
  const double back_s = seconds_between(echo.sent_back_ns, echo.received_ns);
  return {(there_s - back_s) / 2, (there_s + back_s) / 2};
}

}  // namespace

RoundTrips summarise(const std::vector<double>& times_s, const std::vector<EchoTimes>& echoes,
                     StopReason reason) {
  RoundTrips result;
  result.count = static_cast<int>(times_s.size());
  result.median_s = median(times_s);
  result.spread_fraction = relative_spread(times_s);
  const auto [minimum, maximum] = std::minmax_element(times_s.begin(), times_s.end());
  result.min_s = *minimum;
  result.max_s = *maximum;
  result.p90_s = quantile(times_s, 0.90);
  if (result.count >= kMinForP99) result.p99_s = quantile(times_s, 0.99);
  const auto quickest = static_cast<std::size_t>(minimum - times_s.begin());
  const Offset offset = offset_of(echoes[quickest]);
  result.clock_offset_s = offset.offset_s;
  result.clock_offset_error_s = offset.error_s;
  result.reason = reason;
  return result;
}

RoundTrips measure_round_trips(const Endpoint& server, const Secret& secret, const RoundTripOptions& options,
                               const Deadline& deadline) {
  const Connection connection = request_service(
      server, secret, {Service::echo, std::max(0.0, deadline.left_s())}, deadline.or_in(kMaxConnect_s));
  std::uint64_t number = 0;
  const Clock& clock = steady_clock();
  const double begin_s = clock.now_s();
  double quickest_s = kMaxConnect_s;
  Deadline end = deadline.or_in(options.budget_s + kMaxConnect_s);
  while (number < kMinWarmUp || clock.now_s() - begin_s < kWarmUpShare * options.budget_s) {
    const double sent_s = clock.now_s();
    static_cast<void>(exchange(connection.socket, number++, end));
    quickest_s = std::min(quickest_s, clock.now_s() - sent_s);
  }
  const double budget_s = sampling_budget_s(options, quickest_s);
  end = deadline.or_in(budget_s + kMaxConnect_s);
  StoppingRule rule({options.target_spread_fraction, options.min_samples, options.max_samples,
                     std::min(budget_s, kShareOfWhatIsLeft * deadline.left_s())});
  std::vector<EchoTimes> echoes;
  const double first_s = clock.now_s();
  for (double now_s = first_s; !rule.verdict();) {
    const double sent_s = now_s;
    echoes.push_back(exchange(connection.socket, number++, end));
    now_s = clock.now_s();
    rule.add(now_s - sent_s, now_s - first_s);
  }
  const auto samples = rule.samples_s();
  return summarise({samples.begin(), samples.end()}, echoes, *rule.verdict());
}

double longest_s(const RoundTripOptions& options, double round_trip_s) {
  const double warm_up_s = std::max(kWarmUpShare * options.budget_s, kMinWarmUp * round_trip_s);
  return kConnect_s + kConnectRoundTrips * round_trip_s + warm_up_s + sampling_budget_s(options, round_trip_s);
}

RoundTrips RoundTrips::parse(const JsonView& view) {
  view.allow_only({"count", "median_s", "spread_fraction", "min_s", "p90_s", "p99_s", "max_s", "clock_offset_s",
                   "clock_offset_error_s", "reason"});
  RoundTrips result;
  result.count = view.required("count").count(1);
  result.median_s = view.required("median_s").positive();
  result.spread_fraction = view.required("spread_fraction").non_negative();
  result.min_s = view.required("min_s").positive();
  result.p90_s = view.required("p90_s").positive();
  if (const auto p99 = view.optional("p99_s")) result.p99_s = p99->positive();
  result.max_s = view.required("max_s").positive();
  result.clock_offset_s = view.required("clock_offset_s").number();
  result.clock_offset_error_s = view.required("clock_offset_error_s").number();
  result.reason = static_cast<StopReason>(view.required("reason").one_of({kReasons.begin(), kReasons.end()}));
  return result;
}

Json RoundTrips::to_json() const {
  Json out = {{"count", count},
              {"median_s", median_s},
              {"spread_fraction", spread_fraction},
              {"min_s", min_s},
              {"p90_s", p90_s}};
  if (p99_s) out["p99_s"] = *p99_s;
  out["max_s"] = max_s;
  out["clock_offset_s"] = clock_offset_s;
  out["clock_offset_error_s"] = clock_offset_error_s;
  out["reason"] = kReasons[static_cast<std::size_t>(reason)];
  return out;
}

}  // namespace sextant::inline probes
