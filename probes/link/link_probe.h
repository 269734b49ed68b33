// Latency and bandwidth between all pairs of ranks.
//
// A point is the time of one message one way: half a round trip, messages of `bytes` in both directions. Pairs
// are measured in rounds of disjoint pairs at the same time; who rests waits without using its core. In each
// pair the lower rank leads and times. The content of each size goes there and back once, untimed, and is
// compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/harness/probe_context.h"
#include "probes/harness/probe_result.h"
#include "probes/link/alpha_beta.h"
#include "probes/link/tournament.h"

namespace sextant {

// 1 and 8 bytes for the latency, then up to 16 MiB for the bandwidth. (An empty message may not be sent at
// all.)
[[nodiscard]] std::vector<std::size_t> default_message_bytes();

// The points of one pair and what follows from them.
struct LinkMeasurement {
  RankPair pair;
  std::vector<ProbeResult> points;  // "link/<bytes>", in s; rank and peer are the pair
  std::optional<AlphaBeta> fit;     // nothing when a point failed; `sentence` says why
  std::string sentence;
};

// Fits the points, which must be of one pair and sorted by size.
[[nodiscard]] LinkMeasurement fit_link(RankPair pair, std::vector<ProbeResult> points);

// Collective. Gives the pairs that this rank led; a single rank has none.
[[nodiscard]] std::vector<LinkMeasurement> measure_links(Communicator& world, const ProbeContext& context,
                                                         const std::vector<std::size_t>& message_bytes);

// Why there are no links, for a world of one rank.
[[nodiscard]] ProbeResult waived_links();

}  // namespace sextant
