// MILP(D_I, P, delta) of AReaL-Hex (section 4.2.2): replicas of different width on different GPUs, with shares
// of the batch that minimise the time of the last one. See fill.h for the program.
//
// Inference tasks (reference, reward, critic) use the same search: they are assigned to replicas like rollouts.
#pragma once

#include <optional>
#include <vector>

#include "planner/two_phase/fill.h"
#include "planner/two_phase/pieces.h"
#include "planner/two_phase/replica_times.h"

namespace sextant::inline planner {

struct RolloutLimits {
  BatchCut cut;
  int min_devices = 1;  // per replica: wider ones hold less of the weights per device
  int tensor_parallel_limit = 64;
};

class RolloutSearch {
 public:
  RolloutSearch(const Costing& costing, int task);

  // Returns nullopt if the memory of all replicas together does not hold the batch.
  [[nodiscard]] std::optional<TaskPlan> plan(const std::vector<PieceClass>& pieces,
                                             const RolloutLimits& limits);

 private:
  using Kinds = std::vector<ReplicaCurve*>;  // kinds that fit a piece
  struct Candidate {                         // a replica in a piece
    ReplicaCurve* of;
    const std::vector<DeviceId>* piece;
    int first = 0;  // position in the piece's devices
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
  double last_s_ = 0;  // makespan of the last plan: first guess for the next
};

}  // namespace sextant::inline planner
