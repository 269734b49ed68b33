// Chooses the pairs of hosts to measure, and their rounds.
//
// Few hosts: all pairs. Many: each host meets about log2 n others of its zone, which are chosen at random so
// that they connect it, and a few hosts of other zones and of other regions; other pairs are estimated
// (estimates/pair_model.h). Rounds are disjoint pairs, which are measured at the same time.
//
// Bounds, for n > all_pairs_up_to hosts in any mix of zones and regions and the default options:
//   pairs  <= n (ceil(log2 n) / 2 + 4), so at most 1.25 n log2 n;
//   rounds <= 2 d - 1 (without `max_at_once_between_regions`), d being the maximum pairs per host. d is about
//   log2 n + 6 if zones are of similar size; a zone of few hosts next to many others has d about others / few,
//   because every host gets a pair that leaves its zone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "probes/schedule/host_groups.h"

namespace sextant::inline probes {

struct ScheduleOptions {
  int all_pairs_up_to = 64;      // hosts; with more, pairs are sampled
  std::uint64_t seed = 1;        // same seed, same schedule
  int fewest_zone_partners = 6;  // per host in its zone, and at least log2 of the zone's hosts
  int max_zone_crossings = 4;    // per host into other zones of its region, for the classes of zones
  int max_region_crossings = 2;  // per host into other regions, for the classes of regions
  int max_pairs_of_class = 24;   // between two zones, and between two regions
  // Pairs of two regions per round; 0: no limit. Pairs that cross at the same time share the network between.
  int max_at_once_between_regions = 0;
};

// Returns no rounds for fewer than two hosts. Throws Error(bad_input) if an option is negative.
[[nodiscard]] PairRounds schedule_pairs(std::span<const HostPlace> places, const ScheduleOptions& options = {});

// Returns rounds of the pairs that were not measured: packed again if that needs fewer rounds.
[[nodiscard]] PairRounds remaining_rounds(std::span<const HostPlace> places, const PairRounds& rounds,
                                          std::span<const RankPair> measured,
                                          const ScheduleOptions& options = {});

// Seconds of one pair, by the level at which its hosts meet, and of a round in addition to its pairs.
struct PairSeconds {
  double within_zone_s = 0;
  double within_region_s = 0;
  double between_regions_s = 0;
  double round_s = 0;
};

// Returns the time of the rounds: the slowest pair of each decides.
[[nodiscard]] double schedule_seconds(std::span<const HostPlace> places, const PairRounds& rounds,
                                      const PairSeconds& seconds);

}  // namespace sextant::inline probes
