// Collectives over sizes from 8 bytes on, all ranks together; and messages between all pairs.
//
// A sample is the time of the slowest rank (group_point.h). Buffers are fp32 and used in place where there is
// such a form. Known data is sent and compared by every rank once a point, outside of what is timed; while it
// is timed, an all-reduce in place sums its own sums, as in nccl-tests.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "probes/assembly/pair_turns.h"
#include "probes/collective/collectives.h"
#include "probes/comm/communicator.h"
#include "probes/harness/clock.h"
#include "probes/harness/probe_result.h"
#include "probes/harness/sampling.h"
#include "probes/report/host_place.h"

namespace sextant {

// Between turns of pairs and levels of groups, the same on every rank; each may be empty. All may talk to all
// ranks there.
struct CollectiveSteps {
  std::set<RankPair> done_pairs = {};                                      // that are not measured again
  std::set<std::string> done_levels = {};                                  // of growing groups; likewise
  std::function<void(const std::vector<ProbeResult>& mine)> on_turn = {};  // what this rank led of it
  std::function<void(const std::string& level, const std::vector<ProbeResult>& mine)> on_level = {};
  std::function<bool()> is_told_to_stop = {};  // true leaves out what has not begun
};

struct CollectiveOptions {
  SamplingOptions sampling = sampling_options(0.1, 0.02);
  // Of all pairs, and again of all collectives: what has not begun by then is waived. For the pairs of a large
  // job it is that much for each 50 turns in which all pairs of hosts are seen, and one pair of each kind of
  // link is measured whatever the time (pair_turns.h).
  double total_budget_s = 50;
  double max_bytes = 1024.0 * 1024 * 1024;  // less where a rank's memory allows less
  std::vector<std::size_t> pair_bytes = {8, 4096, 65536, 1 << 20, 16 << 20, 256 << 20};
  // Of each rank, for collectives of growing groups (growing_groups.h); empty: of all ranks alone.
  std::vector<HostPlace> places = {};
  // Instead of all sizes from 8 bytes on; none above max_bytes.
  std::vector<double> sizes_bytes = {};
  // Asked by rank 0 before each point: true leaves out the rest; may be empty.
  std::function<bool()> should_stop = {};
  // Which links of a host are alike, the same on every rank; may be empty.
  KindOfPair kind_of_pair = {};
  // Called by every rank before each point that it takes part in; may be empty.
  std::function<void(const std::string& name)> on_point = {};
  CollectiveSteps steps = {};
};

// Collective. On rank 0 "<library>/<collective>/<bytes>" in s with the bytes as work, by kind and size; on the
// others empty. With one rank one waived result.
[[nodiscard]] std::vector<ProbeResult> measure_collectives(Communicator& world, Collectives& collectives,
                                                           const CollectiveOptions& options,
                                                           const Clock& clock = steady_clock());

// Collective. "<library>/pair/<bytes>" in s, half a round trip; rank and peer are the pair, and each rank gets
// those of the pairs that it is the lower of. The pairs of one turn (pair_turns.h) go at the same time. Where
// the budget ended before the turns did rank 0 has a waived "<library>/pair" that says how far they came. With
// one rank none.
[[nodiscard]] std::vector<ProbeResult> measure_pairs(Communicator& world, Collectives& collectives,
                                                     const CollectiveOptions& options,
                                                     const Clock& clock = steady_clock());

// For each result of a collective: "<name>/algorithm_bandwidth" and "<name>/bus_bandwidth" in bytes/s.
[[nodiscard]] std::vector<ProbeResult> derive_bandwidths(const std::vector<ProbeResult>& results, int ranks);

}  // namespace sextant
