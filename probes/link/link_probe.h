// Latency and bandwidth between pairs of ranks.
//
// A point is the time of one message one way: half a round trip, messages of `bytes` in both directions. Pairs
// are measured in rounds of disjoint pairs at the same time (link_rounds.h); who rests waits without using its
// core. In each pair the lower rank leads and times. The content of each size goes there and back once more,
// untimed, and is compared.
//
// Rank 0 leads the rounds: it tells every rank to go on, gets what the pairs of the round found, and hands it
// on before the next one. Every wait has a limit. A rank that is silent for longer is lost: its pairs are left
// out and the rest goes on without it. Without rank 0 nobody can: then the others throw.
#pragma once

#include <functional>
#include <map>
#include <memory>
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

// 16 MiB take as long at 0.56 MB/s; a rank that is silent for longer is gone.
inline constexpr double kAnswerLimit_s = 30;

struct LinkOptions {
  std::vector<std::size_t> message_bytes = default_message_bytes();
  double answer_limit_s = kAnswerLimit_s;  // of each wait for a message of the other rank of a pair
  // Rank and why: known to be lost before, the same on every rank that is not.
  std::map<int, std::string> lost = {};
  // Any rank's true ends the run with what there is; asked often, may be empty.
  std::function<bool()> should_stop = {};
  // On every rank before each round; may be empty.
  std::function<void()> on_wake = {};
  // At rank 0 after each round: the points of its pairs that were measured; may be empty.
  std::function<void(const std::vector<ProbeResult>& points)> on_round = {};
};

struct LinkOutcome {
  std::vector<ProbeResult> points;  // at rank 0, by pair and size; empty at the others
  std::map<int, std::string> lost;  // rank and why; the same on all ranks that are not lost
  bool is_interrupted = false;      // likewise
};

// Ranks of their own, which no other message meets: made while all of them answer, for only this is collective
// in a way that knows no limit.
struct LinkRanks {
  explicit LinkRanks(Communicator& world);

  std::unique_ptr<Communicator> ranks;  // none where one was lost
  std::vector<std::string> hosts;       // by rank
};

// Collective; `rounds` are the same on every rank. Throws Error(machine) where rank 0 was lost.
[[nodiscard]] LinkOutcome measure_links(LinkRanks& link_ranks, const std::vector<std::vector<RankPair>>& rounds,
                                        const ProbeContext& context, const LinkOptions& options);
[[nodiscard]] LinkOutcome measure_links(Communicator& world, const std::vector<std::vector<RankPair>>& rounds,
                                        const ProbeContext& context, const LinkOptions& options);

// The longest that one round of these may take before a rank that has said nothing is lost.
[[nodiscard]] double longest_round_s(const ProbeContext& context, const LinkOptions& options);

// Why there are no links, for a world of one rank.
[[nodiscard]] ProbeResult waived_links();

}  // namespace sextant
