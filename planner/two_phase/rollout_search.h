// MILP(D_I, P, delta) of AReaL-Hex (section 4.2.2): replicas of unlike width on unlike GPUs, and each one's
// share of the batch, so that the last is done as early as possible. See fill.h for the program.
//
// The same serves inference tasks (reference, reward, critic): they are dealt to replicas like rollouts.
#pragma once

#include <optional>
#include <vector>

#include "planner/two_phase/fill.h"
#include "planner/two_phase/pieces.h"
#include "planner/two_phase/replica_times.h"

namespace sextant {

struct RolloutLimits {
  BatchCut cut;
  int min_devices = 1;  // of a replica: wider ones hold less of the weights each
  int tensor_parallel_limit = 64;
};

class RolloutSearch {
 public:
  RolloutSearch(const Costing& costing, int task);

  // Nothing where the memory of all replicas together does not hold the batch.
  [[nodiscard]] std::optional<TaskPlan> plan(const std::vector<PieceClass>& pieces,
                                             const RolloutLimits& limits);

 private:
  using Kinds = std::vector<ReplicaCurve*>;  // that a piece has room for
  struct Candidate {                         // a replica in a piece
    ReplicaCurve* of;
    const std::vector<DeviceId>* piece;
    int first = 0;  // of the piece's devices
    int sequences = 0;
  };
  [[nodiscard]] Kinds kinds_of(const PieceClass& pieces, const RolloutLimits& limits);
  [[nodiscard]] static Filling filling(const PieceClass& pieces, const Kinds& kinds, double within_s);
  [[nodiscard]] static std::vector<Candidate> replicas(const std::vector<PieceClass>& pieces,
                                                       const std::vector<Kinds>& kinds, double within_s);
  void trim(std::vector<Candidate>& replicas) const;
  [[nodiscard]] TaskPlan task_plan(const std::vector<Candidate>& replicas, const BatchCut& cut) const;

  const Costing& costing_;
  int task_;
  ReplicaTimes times_;
  double last_s_ = 0;  // makespan of the last plan: where the next is looked for first
};

}  // namespace sextant
