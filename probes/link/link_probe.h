// Latency and bandwidth between pairs of ranks.
//
// A point is the time of one message one way: half a round trip, messages of `bytes` in both directions. Pairs
// are measured in rounds of disjoint pairs at the same time (schedule/rank_pairs.h); idle ranks wait without using
// their core. In each pair the lower rank leads and times. The content of each size is sent there and back once
// more, untimed, and compared.
//
// All ranks meet after each round (gathering/liveness_barrier.h). Rank 0 receives the results of the pairs, passes
// them on, and gives the order for the next round. Every wait has a timeout. A rank that is silent for longer is
// lost: its pairs are left out and the rest continues without it. Without rank 0 this is impossible: then the
// others throw.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/gathering/liveness_barrier.h"
#include "probes/harness/probe_context.h"
#include "probes/harness/probe_result.h"
#include "probes/link/alpha_beta.h"
#include "probes/schedule/tournament.h"

namespace sextant::inline probes {

// 1 and 8 bytes for the latency, then up to 16 MiB for the bandwidth. (An empty message may not be sent at
// all.)
[[nodiscard]] std::vector<std::size_t> default_message_bytes();

// The points of one pair and the results from them.
struct LinkMeasurement {
  RankPair pair;
  std::vector<ProbeResult> points;  // "link/<bytes>", in s; rank and peer are the pair
  std::optional<AlphaBeta> fit;     // nullopt if a point failed; `sentence` says why
  std::string sentence;
};

// Fits the points, which must be of one pair and sorted by size.
[[nodiscard]] LinkMeasurement fit_link(RankPair pair, std::vector<ProbeResult> points);
// Fits the points of each pair, which must be sorted by size.
[[nodiscard]] std::vector<LinkMeasurement> fit_links(const std::vector<ProbeResult>& points);
// Returns the pairs whose points all have a value and together a fit.
[[nodiscard]] std::set<RankPair> measured_pairs(const std::vector<ProbeResult>& points);
// Returns the points of these pairs: the others must be measured again.
[[nodiscard]] std::vector<ProbeResult> points_of_measured_pairs(const std::vector<ProbeResult>& points);

// 16 MiB take as long at 0.56 MB/s; a rank that is silent for longer is gone.
inline constexpr double kAnswerLimit_s = 30;

struct LinkOptions {
  std::vector<std::size_t> message_bytes = default_message_bytes();
  double answer_limit_s = kAnswerLimit_s;  // for each wait for a message of the other rank of a pair
  // Rank and reason: known to be lost before, the same on every other rank.
  std::map<int, std::string> lost = {};
  // True on any rank ends the run with the results so far; called often, may be empty.
  std::function<bool()> should_stop = {};
  // Called on every rank before each round; may be empty.
  std::function<void()> on_wake = {};
  // Called at rank 0 after each round with the measured points of its pairs; may be empty.
  std::function<void(const std::vector<ProbeResult>& points)> on_round = {};
};

struct LinkOutcome {
  std::vector<ProbeResult> points;  // at rank 0, by pair and size; empty at the others
  std::map<int, std::string> lost;  // rank and reason; the same on all ranks that are not lost
  bool is_interrupted = false;      // the same on all ranks that are not lost
};

// Ranks with a communicator of their own, separate from other messages, and a way to meet. Make it while all of them respond,
// because this step is a collective without a timeout.
struct LinkRanks {
  explicit LinkRanks(Communicator& world);

  std::unique_ptr<Communicator> ranks;  // null if one was lost
  std::unique_ptr<LivenessBarrier> muster;
  std::vector<std::string> hosts;  // by rank
};

// Collective; `rounds` are the same on every rank. Throws Error(machine) if rank 0 was lost.
[[nodiscard]] LinkOutcome measure_links(LinkRanks& link_ranks, const PairRounds& rounds,
                                        const ProbeContext& context, const LinkOptions& options);
[[nodiscard]] LinkOutcome measure_links(Communicator& world, const PairRounds& rounds,
                                        const ProbeContext& context, const LinkOptions& options);

// Returns the maximum time of one round before a silent rank is lost.
[[nodiscard]] double longest_round_s(const ProbeContext& context, const LinkOptions& options);

// Returns the reason for a world of one rank, which has no links.
[[nodiscard]] ProbeResult waived_links();

}  // namespace sextant::inline probes
