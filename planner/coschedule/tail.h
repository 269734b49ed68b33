// Long-tail migration (section 4.3): when a share of a rollout's responses has ended, the others move to a few workers,
// and the next job's rollout begins on the freed ones.
//
// The tail moves to the smallest number of workers on which no batch is larger than at the start. Requests move, not
// their KV cache, so that they are prefilled again (Responses::migration_s). The next job's batch is on fewer workers
// until the tail has ended, which costs it what batch_share says. Rollouts whose nodes no other job uses, that have one
// worker, or whose responses all end together are not moved: in the bounds of an admission nothing ever moves.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/coschedule/responses.h"
#include "planner/coschedule/round_robin.h"

namespace sextant::coschedule {

// Phases of an iteration alone, without warm starts.
struct PhaseTimes {
  double rollout_s = 0, training_s = 0, sync_s = 0;
  [[nodiscard]] double solo_s() const { return rollout_s + training_s + sync_s; }
};
// With the lengths of a batch; the job has `responses`.
[[nodiscard]] PhaseTimes times_of(const Job& job, const Batch& batch);
// The same for a typical iteration: typical_batch, or typical_fraction of the bounds without lengths.
[[nodiscard]] PhaseTimes typical_times(const Job& job);

struct TailSplit {
  double head_s = 0;  // on all workers
  double tail_s = 0;  // on tail_workers
  int tail_workers = 0;
};
// Empty if nothing is left to move at this threshold, which is greater than 0 and less than 1.
[[nodiscard]] std::optional<TailSplit> split_rollout(const Job& job, const Batch& batch, double threshold);

// An iteration of each member as it runs. Batches are null for members without lengths; thresholds are 0 for those
// whose tails stay.
struct RunningGroup {
  const Group* group = nullptr;
  std::vector<PhaseTimes> times;
  std::vector<const Batch*> batches;
};
[[nodiscard]] std::vector<Phases> running_phases(const RunningGroup& running,
                                                 const std::vector<double>& thresholds);

enum class TailRule { stay, fixed, best };  // at kWeaveThreshold or the given one; where the period is shortest
struct TailMoves {
  std::vector<double> thresholds;  // by member; 0: the tail stays
  std::vector<Phases> phases;
  double period_s = 0;  // of the group's meta-iteration
};
// best: sweeps over the members until none has a better threshold, from none and from kWeaveThreshold. The paper does
// not choose.
[[nodiscard]] TailMoves move_tails(const RunningGroup& running, TailRule rule,
                                   double threshold = kWeaveThreshold);

}  // namespace sextant::coschedule
