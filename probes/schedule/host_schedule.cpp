#include "probes/schedule/host_schedule.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "probes/schedule/crossings.h"
#include "probes/schedule/pair_packing.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

void check(const ScheduleOptions& options) {
  for (const int value :
       {options.all_pairs_up_to, options.fewest_zone_partners, options.max_zone_crossings,
        options.max_region_crossings, options.max_pairs_of_class, options.max_at_once_between_regions}) {
    if (value < 0) throw_bad_input("a schedule's options must not be negative, got " + std::to_string(value));
  }
}

// Rounds of a tournament of the shuffled hosts: disjoint matchings in which another host rests each time if
// their number is odd. The first two are neighbours, which together are one path through all hosts.
void add_zone_pairs(std::vector<int> hosts, const ScheduleOptions& options, std::mt19937_64& random,
                    std::vector<RankPair>& pairs) {
  const int count = static_cast<int>(hosts.size());
  const int rounds = tournament_round_count(count);
  const int log2 = std::bit_width(static_cast<unsigned>(std::max(count - 1, 0)));
  std::shuffle(hosts.begin(), hosts.end(), random);
  std::vector<int> order(static_cast<std::size_t>(rounds));
  std::iota(order.begin(), order.end(), 0);
  if (rounds > 2) std::shuffle(order.begin() + 2, order.end(), random);
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(options.fewest_zone_partners, log2))));
  for (const int round : order) {
    for (const RankPair& pair : tournament_round(count, round)) {
      pairs.push_back(
          pair_of(hosts[static_cast<std::size_t>(pair.low)], hosts[static_cast<std::size_t>(pair.high)]));
    }
  }
}

std::vector<std::vector<std::vector<int>>> zones_by_region(const HostGroups& groups) {
  std::vector<std::vector<std::vector<int>>> zones(groups.zones_of_region.size());
  for (std::size_t region = 0; region < zones.size(); ++region) {
    for (const int zone : groups.zones_of_region[region]) {
      zones[region].push_back(groups.hosts_of_zone[static_cast<std::size_t>(zone)]);
    }
  }
  return zones;
}

std::vector<RankPair> sample_crossings(const HostGroups& groups, const ScheduleOptions& options,
                                       std::mt19937_64& random) {
  const auto zones = zones_by_region(groups);
  std::vector<std::vector<int>> regions;
  regions.reserve(groups.zones_of_region.size());
  for (int region = 0; region < groups.region_count(); ++region) {
    regions.push_back(groups.hosts_of_region(region));
  }
  std::vector<RankPair> pairs =
      class_crossings(regions, {options.max_region_crossings, options.max_pairs_of_class}, random);
  const auto add = [&pairs](const std::vector<RankPair>& more) {
    pairs.insert(pairs.end(), more.begin(), more.end());
  };
  for (const auto& of_region : zones) {
    add(class_crossings(of_region, {options.max_zone_crossings, options.max_pairs_of_class}, random));
  }
  std::vector<bool> is_met(groups.zone_of.size());
  for (const RankPair& pair : pairs) {
    is_met[static_cast<std::size_t>(pair.low)] = is_met[static_cast<std::size_t>(pair.high)] = true;
  }
  for (const auto& of_region : zones) add(first_crossings(of_region, is_met, random));
  add(first_crossings(regions, is_met, random));
  return pairs;
}

}  // namespace

PairRounds schedule_pairs(std::span<const HostPlace> places, const ScheduleOptions& options) {
  check(options);
  const int hosts = static_cast<int>(places.size());
  if (hosts <= options.all_pairs_up_to && options.max_at_once_between_regions == 0)
    return tournament_rounds(hosts);
  const HostGroups groups = group_hosts(places);
  std::vector<RankPair> pairs;
  if (hosts <= options.all_pairs_up_to) {
    for (const auto& round : tournament_rounds(hosts)) pairs.insert(pairs.end(), round.begin(), round.end());
  } else {
    std::mt19937_64 random(options.seed);
    for (const auto& zone : groups.hosts_of_zone) add_zone_pairs(zone, options, random, pairs);
    const std::vector<RankPair> crossings = sample_crossings(groups, options, random);
    pairs.insert(pairs.end(), crossings.begin(), crossings.end());
  }
  return pack_rounds(groups, std::move(pairs), options.max_at_once_between_regions);
}

PairRounds remaining_rounds(std::span<const HostPlace> places, const PairRounds& rounds,
                            std::span<const RankPair> measured, const ScheduleOptions& options) {
  check(options);
  PairRounds left = rounds;
  remove_pairs(left, {measured.begin(), measured.end()});
  std::vector<RankPair> pairs;
  for (const auto& round : left) pairs.insert(pairs.end(), round.begin(), round.end());
  PairRounds packed = pack_rounds(group_hosts(places), std::move(pairs), options.max_at_once_between_regions);
  return packed.size() < left.size() ? packed : left;
}

double schedule_seconds(std::span<const HostPlace> places, const PairRounds& rounds,
                        const PairSeconds& seconds) {
  const HostGroups groups = group_hosts(places);
  const auto pair_s = [&](const RankPair& pair) {
    const LinkLevel level = groups.level_of(pair);
    if (level == LinkLevel::within_zone) return seconds.within_zone_s;
    return level == LinkLevel::within_region ? seconds.within_region_s : seconds.between_regions_s;
  };
  double total_s = 0;
  for (const auto& round : rounds) {
    double slowest_s = 0;
    for (const RankPair& pair : round) slowest_s = std::max(slowest_s, pair_s(pair));
    total_s += seconds.round_s + slowest_s;
  }
  return total_s;
}

}  // namespace sextant::inline probes
