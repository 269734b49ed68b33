// Constrained_Search(D_T) of AReaL-Hex (section 4.2.1, after Metis): the ways to run a task over all replicas
// at once, on devices of several types.
//
// The paper's constraint: tensor and data parallelism use devices of one type each, so that only pipeline
// stages reach from one type to another. Stages of each type have a tensor parallelism of their own, inside a
// machine, and layers in proportion to the rate of their devices (section 4.2.1). What the search enumerates:
// which types take part, data parallelism, tensor parallelism of each type, whether replicas or stages lie side
// by side in a machine, micro-batch sizes and, where asked for, recomputation; pipeline parallelism follows.
// Left out of the paper's: stages of one replica whose data parallelism differs, which a Plan cannot say.
//
// Sequences are dealt evenly by number: our batches have no sequences of known length to pack (the paper's
// greedy packing); what waiting for longer ones costs is the model's (terms/uneven_lengths.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "planner/request/fingerprints.h"
#include "planner/two_phase/costing.h"
#include "planner/two_phase/pieces.h"

namespace sextant {

struct TrainingLimits {
  std::vector<int> micro_batch_sequences;
  bool try_recompute = false;
  int decode_batch_sequences = 0;  // of generation, as TaskPlan has it
  int tensor_parallel_limit = 64;
  double room_fraction = 1;  // of its devices' memory that the task may need; less where others run there
  bool keeps_what_does_not_fit = false;
  // Layouts whose first replica is so much slower than the best that fits are left out: what is nearer may be
  // chosen for its memory or its weights.
  double slack = 1.3;
  std::function<bool()> is_over;  // asked now and then: what was found until then is returned
};

class TrainingSearch {
 public:
  TrainingSearch(const Costing& costing, int task) : costing_(&costing), task_(task) {}

  // Ways that no other one beats (unbeaten), fastest first. devices: ascending. Empty where the batch or the
  // layers are too few for any. What partitions have in common is costed once.
  [[nodiscard]] std::vector<ChoicePtr> search(const std::vector<DeviceId>& devices,
                                              const TrainingLimits& limits);

 private:
  struct Layout {
    TaskPlan plan;
    Fingerprint print, print_of_first;  // of its replicas, and of the first
  };
  struct Trial {
    std::size_t layout = 0;
    int micro_batch_sequences = 1;
    Recompute recompute = Recompute::none;
    double min_s = 0;
    ChoicePtr choice = nullptr;  // once it was asked for
  };
  // What trials depend on.
  struct TrainingQuery {
    std::vector<DeviceId> devices;
    std::vector<int> micro_batch_sequences;
    bool try_recompute = false;
    int decode_batch_sequences = 0;
    int tensor_parallel_limit = 0;
    friend bool operator==(const TrainingQuery&, const TrainingQuery&) = default;
  };
  // False where it was over before all were there.
  [[nodiscard]] bool add_trials(const TrainingQuery& asked, const std::function<bool()>& is_over);
  void add_trials(std::vector<Replica> replicas, const TrainingQuery& asked);
  [[nodiscard]] const TaskPlan& plan_of(const Trial& trial);
  [[nodiscard]] double min_s(const Trial& trial);
  [[nodiscard]] ChoicePtr cost(const Trial& trial);

  const Costing* costing_;
  int task_;
  // Of what was asked last: asked again with more patience, nothing is made twice.
  std::optional<TrainingQuery> asked_;
  std::vector<Layout> layouts_;
  std::vector<Trial> trials_;  // by min_s
  // Of all searches.
  KnownParts<double> known_min_s_;
  KnownParts<std::size_t> known_choices_;  // positions in choices_
  std::vector<ChoicePtr> choices_;
};

// Those that no other beats in time, resident and working memory, and weight synchronization; fastest first.
[[nodiscard]] std::vector<ChoicePtr> unbeaten(std::vector<ChoicePtr> choices);

}  // namespace sextant
