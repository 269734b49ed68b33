// Collectives over sizes from 8 bytes on, with all ranks; and messages between all pairs.
//
// A sample is the time of the slowest rank (group_point.h). Buffers are fp32 and used in place if there is such
// a form. Known data is sent and compared by every rank once per point, outside the timed part; in the timed
// part, an all-reduce in place sums its own sums, as in nccl-tests.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "probes/collective/collectives.h"
#include "probes/comm/communicator.h"
#include "probes/harness/clock.h"
#include "probes/harness/probe_result.h"
#include "probes/harness/sampling.h"
#include "probes/schedule/host_place.h"
#include "probes/schedule/rank_pairs.h"

namespace sextant::inline probes {

// Callbacks between turns of pairs and levels of groups, the same on every rank; each may be empty. They may
// communicate with all ranks.
struct CollectiveSteps {
  std::set<RankPair> done_pairs = {};                                      // not measured again
  std::set<std::string> done_levels = {};                                  // of growing groups; likewise
  std::function<void(const std::vector<ProbeResult>& mine)> on_turn = {};  // the results of this rank's lead
  std::function<void(const std::string& level, const std::vector<ProbeResult>& mine)> on_level = {};
  std::function<bool()> is_told_to_stop = {};  // true skips everything that has not begun
};

struct CollectiveOptions {
  SamplingOptions sampling = sampling_options(0.1, 0.02);
  // The budget for all pairs, and again for all collectives: points not begun by then are waived. A large job
  // gets this much for each 50 turns in which all pairs of hosts are covered, and one pair of each kind of link
  // is measured whatever the time (rank_pairs.h).
  double total_budget_s = 50;
  double max_bytes = 1024.0 * 1024 * 1024;  // less if a rank's memory allows less
  std::vector<std::size_t> pair_bytes = {8, 4096, 65536, 1 << 20, 16 << 20, 256 << 20};
  // The place of each rank, for collectives of growing groups (growing_groups.h); empty: one group of all.
  std::vector<HostPlace> places = {};
  // Used in place of all sizes from 8 bytes on; none above max_bytes.
  std::vector<double> sizes_bytes = {};
  // Called by rank 0 before each point: true skips the rest; may be empty.
  std::function<bool()> should_stop = {};
  // Classifies the links of a host, the same on every rank; may be empty.
  KindOfPair kind_of_pair = {};
  // Called by every rank before each point that it takes part in; may be empty.
  std::function<void(const std::string& name)> on_point = {};
  CollectiveSteps steps = {};
};

// Collective. Returns, on rank 0, "<library>/<collective>/<bytes>" in s with the bytes as work, by kind and
// size; empty on the others. With one rank it returns one waived result.
[[nodiscard]] std::vector<ProbeResult> measure_collectives(Communicator& world, Collectives& collectives,
                                                           const CollectiveOptions& options,
                                                           const Clock& clock = steady_clock());

// Collective. Returns "<library>/pair/<bytes>" in s, half a round trip; rank and peer are the pair, and each
// rank gets the results of the pairs in which it is the lower one. The pairs of one turn (rank_pairs.h) run at
// the same time. If the budget ended before the turns, rank 0 has a waived "<library>/pair" with the number of
// turns done. Empty with one rank.
[[nodiscard]] std::vector<ProbeResult> measure_pairs(Communicator& world, Collectives& collectives,
                                                     const CollectiveOptions& options,
                                                     const Clock& clock = steady_clock());

// Returns, per collective result, "<name>/algorithm_bandwidth" and "<name>/bus_bandwidth" in bytes/s.
[[nodiscard]] std::vector<ProbeResult> derive_bandwidths(const std::vector<ProbeResult>& results, int ranks);

}  // namespace sextant::inline probes
