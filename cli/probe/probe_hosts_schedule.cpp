#include "cli/probe/probe_hosts_schedule.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/shared/command.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

// The time of a round in addition to its pairs: commands and answers of all agents.
constexpr double kRound_s = 0.5;
// Round trips that the estimate takes for granted: half the world for different regions.
constexpr double kZoneRoundTrip_s = 2e-4, kRegionRoundTrip_s = 2e-3, kFarRoundTrip_s = 0.25;
constexpr double kStart_s = 3;  // of a host over ssh, most of it the handshake of the two

// The device time of one host: GPUs one after another (--total-budget each), then their copies, NCCL by pairs
// and its collectives.
constexpr int kUsualGpus = 8, kMaxGpus = 16, kBudgetsBesides = 3;
constexpr int kPointsOfCores = 64;        // of --budget each, where there is no GPU
constexpr double kBesideBudgets_s = 300;  // starting, allocating, checking

double value_after(const std::vector<std::string>& words, const std::string& name) {
  const auto found = std::find(words.begin(), words.end(), name);
  return found == words.end() || std::next(found) == words.end() ? 0 : std::stod(*std::next(found));
}

double gpus_s(const std::vector<std::string>& device_options, int gpus) {
  return (gpus + kBudgetsBesides) * value_after(device_options, "--total-budget");
}

std::vector<HostPlace> places_of(const std::vector<Host>& hosts) {
  std::vector<HostPlace> places;
  places.reserve(hosts.size());
  for (const Host& host : hosts) places.push_back({host.name, host.region, host.zone});
  return places;
}

double starting_s(const FleetOptions& options, std::size_t hosts) {
  return kStart_s * std::ceil(static_cast<double>(hosts) / options.max_starting);
}

double pairs_s(const PairOptions& pair, const std::vector<Host>& hosts, const PairRounds& rounds) {
  const PairSeconds seconds{pair.longest_s(kZoneRoundTrip_s), pair.longest_s(kRegionRoundTrip_s),
                            pair.longest_s(kFarRoundTrip_s), kRound_s};
  return schedule_seconds(places_of(hosts), rounds, seconds);
}

std::string pair_names(const std::vector<Host>& hosts, const std::vector<RankPair>& round) {
  constexpr std::size_t kMaxShown = 200;
  std::string names;
  for (const RankPair& one : round) {
    if (names.size() > kMaxShown) return names + " ... (" + std::to_string(round.size()) + " pairs)";
    names += " " + hosts[static_cast<std::size_t>(one.low)].name + "-" +
             hosts[static_cast<std::size_t>(one.high)].name;
  }
  return names;
}

}  // namespace

PairRounds rounds_for(const std::vector<Host>& hosts, const ScheduleOptions& options,
                      const FleetJournal& done) {
  std::map<std::string, int> number_of;
  for (std::size_t i = 0; i < hosts.size(); ++i) number_of[hosts[i].name] = static_cast<int>(i);
  std::vector<RankPair> measured;
  for (const PairMeasurement& pair : done.pairs) {
    const int a = number_of[pair.from], b = number_of[pair.to];
    measured.push_back({std::min(a, b), std::max(a, b)});
  }
  const std::vector<HostPlace> places = places_of(hosts);
  return remaining_rounds(places, schedule_pairs(places, options), measured, options);
}

double device_limit_s(const std::vector<std::string>& device_options) {
  return kBesideBudgets_s + gpus_s(device_options, kMaxGpus) +
         kPointsOfCores * value_after(device_options, "--budget");
}

int show_schedule(const ProbeHostsOptions& options, const std::vector<Host>& hosts, const PairRounds& rounds) {
  std::size_t pairs = 0;
  for (const auto& round : rounds) pairs += round.size();
  const std::size_t all = hosts.size() * (hosts.size() - 1) / 2;
  const FleetOptions& fleet = options.fleet;
  const double start_s = starting_s(fleet, hosts.size()), measure_s = pairs_s(fleet.pair, hosts, rounds);
  print_line(std::to_string(hosts.size()) + " hosts: " + std::to_string(pairs) + " of " + std::to_string(all) +
             " pairs in " + std::to_string(rounds.size()) + " rounds");
  print_line("starting: about " + format_seconds(start_s) + ", " +
             std::to_string(std::min(static_cast<int>(hosts.size()), fleet.max_starting)) + " at once");
  double devices_s = 0;
  if (fleet.probe_devices) {
    devices_s = gpus_s(fleet.device_options, kUsualGpus);
    print_line("devices: all hosts at once; with " + std::to_string(kUsualGpus) +
               " GPUs a host at most about " + format_seconds(devices_s) +
               ", much less with CPU cores only; time limit " + format_seconds(fleet.device_limit_s));
  }
  print_line("pairs: at most " + format_seconds(measure_s) + ", assuming a round trip of " +
             format_seconds(kFarRoundTrip_s) + " between regions; less if rates are stable early");
  print_line("total: at most about " + format_seconds(start_s + devices_s + measure_s));
  std::size_t number = 0;
  for (const auto& round : rounds) {
    print_line("round " + std::to_string(++number) + ":" + pair_names(hosts, round));
  }
  return kDone;
}

}  // namespace sextant::cli
