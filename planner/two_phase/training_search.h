// Constrained_Search(D_T) of AReaL-Hex (section 4.2.1, after Metis): the layouts of a task over all replicas at
// once, on devices of several types.
//
// The paper's constraint: tensor and data parallelism use devices of one type each, so that only pipeline
// stages cross types. Stages of each type have their own tensor parallelism, inside a machine, and layers in
// proportion to the rate of their devices (section 4.2.1). The search enumerates the participating types, data
// parallelism, tensor parallelism of each type, the order of replicas and stages within a machine, micro-batch
// sizes and, if requested, recomputation; pipeline parallelism follows. The paper's stages of one replica with
// different data parallelism are left out, because a Plan cannot represent them.
//
// Sequences are split evenly by number: the lengths of our batches are not known in advance, so the paper's
// greedy packing does not apply. The model accounts for waiting for longer sequences (terms/uneven_lengths.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "planner/request/fingerprints.h"
#include "planner/two_phase/costing.h"
#include "planner/two_phase/pieces.h"

namespace sextant::inline planner {

struct TrainingLimits {
  std::vector<int> micro_batch_sequences;
  bool try_recompute = false;
  int decode_batch_sequences = 0;  // generation: see TaskPlan
  int tensor_parallel_limit = 64;
  double room_fraction = 1;  // share of its devices' memory for this task; below 1 if others run there
  bool keeps_what_does_not_fit = false;
  // Layouts whose first replica is slower than the best that fits by more than this factor are left out. Slower
  // ones within the factor may be chosen for their memory or weight sync.
  double slack = 1.3;
  std::function<bool()> is_over;  // polled; the results until then are returned
};

class TrainingSearch {
 public:
  TrainingSearch(const Costing& costing, int task) : costing_(&costing), task_(task) {}

  // Layouts that no other one dominates (unbeaten), fastest first. devices: ascending. Empty if the batch or
  // the layers are too few for any layout. Costs that partitions have in common are computed once.
  [[nodiscard]] std::vector<ChoicePtr> search(const std::vector<DeviceId>& devices,
                                              const TrainingLimits& limits);

 private:
  struct Layout {
    TaskPlan plan;
    Fingerprint print, print_of_first;  // fingerprint of its replicas, and of the first
  };
  struct Trial {
    std::size_t layout = 0;
    int micro_batch_sequences = 1;
    Recompute recompute = Recompute::none;
    double min_s = 0;
    ChoicePtr choice = nullptr;  // null until it is costed
  };
  // The inputs that trials depend on.
  struct TrainingQuery {
    std::vector<DeviceId> devices;
    std::vector<int> micro_batch_sequences;
    bool try_recompute = false;
    int decode_batch_sequences = 0;
    int tensor_parallel_limit = 0;
    friend bool operator==(const TrainingQuery&, const TrainingQuery&) = default;
  };
  // Returns false if the search was over before all trials were added.
  [[nodiscard]] bool add_trials(const TrainingQuery& asked, const std::function<bool()>& is_over);
  void add_trials(std::vector<Replica> replicas, const TrainingQuery& asked);
  [[nodiscard]] const TaskPlan& plan_of(const Trial& trial);
  [[nodiscard]] double min_s(const Trial& trial);
  [[nodiscard]] ChoicePtr cost(const Trial& trial);

  const Costing* costing_;
  int task_;
  // Cache of the last query, so that a call with more patience repeats nothing.
  std::optional<TrainingQuery> asked_;
  std::vector<Layout> layouts_;
  std::vector<Trial> trials_;  // by min_s
  // Caches of all searches.
  KnownParts<double> known_min_s_;
  KnownParts<std::size_t> known_choices_;  // positions in choices_
  std::vector<ChoicePtr> choices_;
};

// Choices that no other dominates in time, resident and working memory, and weight sync; fastest first.
[[nodiscard]] std::vector<ChoicePtr> unbeaten(std::vector<ChoicePtr> choices);

}  // namespace sextant::inline planner
