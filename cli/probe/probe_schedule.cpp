#include "cli/probe/probe_schedule.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/units.h"
#include "probes/collective/collective_shape.h"
#include "probes/ranks/cluster_probe.h"
#include "probes/schedule/group_levels.h"
#include "probes/schedule/rank_pairs.h"

namespace sextant::cli {
namespace {

constexpr std::size_t kMaxShown = 200;  // characters of a line

// The name of a pair: "a-b".
using PairName = std::function<std::string(const RankPair& pair)>;

PairName names_of(std::vector<std::string> names) {
  return [names = std::move(names)](const RankPair& pair) {
    return names[static_cast<std::size_t>(pair.low)] + "-" + names[static_cast<std::size_t>(pair.high)];
  };
}

// "round 3: a-b c-d", one line each.
std::string describe_rounds(const PairRounds& rounds, const PairName& name) {
  std::string text;
  std::size_t number = 0;
  for (const auto& round : rounds) {
    std::string line = "round " + std::to_string(++number) + ":";
    for (const RankPair& pair : round) {
      if (line.size() > kMaxShown) break;
      line += " " + name(pair);
    }
    text += line + (line.size() > kMaxShown ? " ... (" + std::to_string(round.size()) + " pairs)" : "") + "\n";
  }
  return text;
}

std::string describe_groups(const std::vector<GroupLevel>& levels) {
  std::string text;
  for (const GroupLevel& level : levels) {
    std::string line = "collectives:";
    for (const sextant::RankGroup& group : level.groups) {
      if (line.size() > kMaxShown) break;
      line += " " + group.name + " (" + std::to_string(group.ranks.size()) + " ranks),";
    }
    line.back() = level.groups.size() > 1 ? ' ' : '\n';
    text += line;
    if (level.groups.size() > 1) text += "(" + std::to_string(level.groups.size()) + " groups at once)\n";
  }
  return text;
}

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string describe_ranks(const std::vector<HostPlace>& places) {
  std::set<std::string> hosts, zones, regions;
  for (const HostPlace& place : places) {
    hosts.insert(place.name);
    zones.insert(place.zone);
    regions.insert(place.region);
  }
  return count_of(places.size(), "rank") + " on " + count_of(hosts.size(), "host") + " in " +
         count_of(zones.size(), "zone") + " and " + count_of(regions.size(), "region");
}

// "node7/1" for the second rank of a host.
std::vector<std::string> local_names(const std::vector<std::string>& hosts) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const std::string& host : hosts) names.push_back(host + "/" + std::to_string(seen[host]++));
  return names;
}

std::string at_most(double seconds) {
  return "at most about " + format_seconds(seconds) + " (less if numbers are stable early)\n";
}

double point_s(const SamplingOptions& sampling) { return sampling.warm_up_s + sampling.stopping.budget_s; }

// The time of a round over hosts in addition to its pairs: commands and answers of all agents.
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

double pairs_s(const PairOptions& pair, const std::vector<Host>& hosts, const PairRounds& rounds) {
  const PairSeconds seconds{pair.longest_s(kZoneRoundTrip_s), pair.longest_s(kRegionRoundTrip_s),
                            pair.longest_s(kFarRoundTrip_s), kRound_s};
  return schedule_seconds(places_of(hosts), rounds, seconds);
}

}  // namespace

std::string describe_schedule(Communicator& ranks, const ProbeOptions& options) {
  const std::vector<std::string> hosts = ranks.hosts();
  const std::vector<HostPlace> places = options.hosts.of(hosts);
  const PairRounds rounds = rounds_of_ranks(hosts);
  const std::vector<GroupLevel> levels = growing_groups(places);
  const PairName on_hosts = names_of(hosts), on_one_host = names_of(local_names(hosts));
  const auto name = [&](const RankPair& pair) {
    const bool is_one = hosts[static_cast<std::size_t>(pair.low)] == hosts[static_cast<std::size_t>(pair.high)];
    return is_one ? on_one_host(pair) : on_hosts(pair);
  };
  const double round_s = static_cast<double>(rank_link_options(options).message_bytes.size()) *
                         point_s(sampling_options(options.budget_s_per_point, options.target_spread_fraction));
  const double level_s =
      static_cast<double>(kCollectiveKindCount * rank_collective_sizes_bytes(options).size()) *
      point_s(rank_collective_sampling(options));
  return describe_ranks(places) + "\ndevices: all at once\n" + describe_rounds(rounds, name) +
         describe_groups(levels) +
         at_most(longest_devices_s(options) + static_cast<double>(rounds.size()) * round_s +
                 static_cast<double>(levels.size()) * std::min(level_s, options.collectives_budget_s));
}

std::string describe_gpu_schedule(Communicator& ranks, const ProbeOptions& options, double total_budget_s,
                                  int gpus) {
  std::vector<std::string> hosts = ranks.hosts();
  const bool is_alone = hosts.size() == 1;
  if (is_alone) hosts.assign(static_cast<std::size_t>(gpus), hosts.front());
  const std::vector<HostPlace> places = options.hosts.of(hosts);
  const std::vector<GroupLevel> levels = growing_groups(places);
  std::string text = is_alone ? count_of(hosts.size(), "GPU") + " of this host, one after another\n"
                              : describe_ranks(places) + "\nGPUs: all at once\n";
  const PairTurns turns(hosts);
  PairRounds rounds;
  for (std::size_t turn = 0; turn < turns.first_count(); ++turn) rounds.push_back(turns.turn(turn));
  text += describe_rounds(rounds, names_of(local_names(hosts)));
  if (rounds.size() < turns.count()) {
    text += "if time allows: " + count_of(turns.count() - rounds.size(), "more round") + " of other pairs\n";
  }
  // GPUs, copies between those of a host, pairs, and each level of collectives: --total-budget each.
  const double budgets = (is_alone ? static_cast<double>(gpus) : 1) + (is_alone && gpus > 1 ? 1 : 0) +
                         (rounds.empty() ? 0 : 1) + static_cast<double>(levels.size());
  return text + describe_groups(levels) + at_most(budgets * total_budget_s);
}

std::string describe_host_schedule(const FleetOptions& options, const std::vector<Host>& hosts,
                                   const PairRounds& rounds) {
  std::size_t pairs = 0;
  for (const auto& round : rounds) pairs += round.size();
  const std::size_t all = hosts.size() * (hosts.size() - 1) / 2;
  const double start_s = kStart_s * std::ceil(static_cast<double>(hosts.size()) / options.max_starting);
  const double measure_s = pairs_s(options.pair, hosts, rounds);
  const double devices_s = options.probe_devices ? gpus_s(options.device_options, kUsualGpus) : 0;
  std::string text = std::to_string(hosts.size()) + " hosts: " + std::to_string(pairs) + " of " +
                     std::to_string(all) + " pairs in " + std::to_string(rounds.size()) + " rounds\n";
  text += "starting: about " + format_seconds(start_s) + ", " +
          std::to_string(std::min(static_cast<int>(hosts.size()), options.max_starting)) + " at once\n";
  if (options.probe_devices) {
    text += "devices: all hosts at once; with " + std::to_string(kUsualGpus) + " GPUs a host at most about " +
            format_seconds(devices_s) + ", much less with CPU cores only; time limit " +
            format_seconds(options.device_limit_s) + "\n";
  }
  text += "pairs: at most " + format_seconds(measure_s) + ", assuming a round trip of " +
          format_seconds(kFarRoundTrip_s) + " between regions; less if rates are stable early\n";
  text += "total: at most about " + format_seconds(start_s + devices_s + measure_s) + "\n";
  std::vector<std::string> names;
  for (const Host& host : hosts) names.push_back(host.name);
  return text + describe_rounds(rounds, names_of(std::move(names)));
}

double device_limit_s(const std::vector<std::string>& device_options) {
  return kBesideBudgets_s + gpus_s(device_options, kMaxGpus) +
         kPointsOfCores * value_after(device_options, "--budget");
}

double longest_silence_s(const ProbeOptions& options) {
  ProbeContext context;
  context.sampling = sampling_options(options.budget_s_per_point, options.target_spread_fraction);
  const double round_s = longest_round_s(context, rank_link_options(options)) + 8 * options.answer_limit_s;
  return round_s + longest_devices_s(options) + options.collectives_budget_s;
}

}  // namespace sextant::cli
