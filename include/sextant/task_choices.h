// What a search may choose for one task besides the devices it runs on: execution options, recomputation and
// decode batches, and the layouts that a framework can run.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant {

struct TaskChoices {
  // At least one; the first is the default, which planners take that try one alone. Weights are stored alike in
  // all of them and adapters have the same rank, so that what weight synchronization sends is the same.
  std::vector<Execution> executions{Execution{}};
  // Of training; empty: none, and full where SearchLimits::try_recompute asks for it.
  std::vector<Recompute> recompute = {};
  // Of generation: TaskPlan::decode_batch_sequences. Empty: 0 (all of a replica's sequences) and the powers of
  // two that memory tells apart (decode_batches).
  std::vector<int> decode_batch_sequences = {};
  // Where the micro-batch is counted in sequences. Empty: SearchLimits::micro_batch_sequences.
  std::vector<int> micro_batch_sequences = {};
  // Devices that split a stage's matrices, and stages of a replica. 0: as many as there are.
  int max_tensor_parallel = 0;
  int max_pipeline_parallel = 0;
  bool has_even_batch = false;   // replicas get equally many sequences
  bool has_even_layers = false;  // stages get equally many layers

  // Whether there are layouts that it forbids.
  [[nodiscard]] bool has_rules() const {
    return max_tensor_parallel > 0 || max_pipeline_parallel > 0 || has_even_batch || has_even_layers;
  }
  friend bool operator==(const TaskChoices&, const TaskChoices&) = default;
};

// What a framework demands of the devices of two tasks, by number: that both have one and the same set, or no
// device in common. A plan exceeds the limits of the search by one for each pair that breaks its rule
// (Score::overrun).
using TaskPairs = std::vector<std::pair<std::size_t, std::size_t>>;
struct DeviceRules {
  TaskPairs same;
  TaskPairs apart;

  [[nodiscard]] bool empty() const { return same.empty() && apart.empty(); }
  // is_same, overlap: of two tasks' sets of devices.
  template <typename IsSame, typename Overlap>
  [[nodiscard]] int broken(IsSame is_same, Overlap overlap) const {
    int count = 0;
    for (const auto& [task, other] : same) count += is_same(task, other) ? 0 : 1;
    for (const auto& [task, other] : apart) count += overlap(task, other) ? 1 : 0;
    return count;
  }
};

// With this execution alone.
[[nodiscard]] TaskChoices one_choice(const Execution& execution);

// By task, each with one execution.
[[nodiscard]] std::vector<TaskChoices> choices_of(const std::vector<Execution>& executions);

// The choices of a task; the default of all where none are given. `choices` is by task, or empty.
[[nodiscard]] const TaskChoices& choices_for(const std::vector<TaskChoices>& choices, std::size_t task);

// What is recomputed in the layouts that a search tries for a task of this kind.
[[nodiscard]] std::vector<Recompute> recompute_choices(TaskKind kind, const TaskChoices& choices,
                                                       bool try_recompute);

// Whether the micro-batch size of a plan changes what it costs: not where a token budget, a number of
// micro-batches or an engine's prefill chunk says how a batch is cut.
[[nodiscard]] bool counts_micro_batches_in_sequences(TaskKind kind, const Execution& execution);

// Whether the layout with these degrees can be executed in this way, whatever the devices: context and expert
// parallelism, virtual stages, a micro-batch's budget of tokens (sextant/plan.h: check_plan).
// width: devices of a stage.
[[nodiscard]] bool can_execute(const Execution& execution, const Task& task, const Workflow& workflow,
                               int data_parallel, int pipeline_parallel, int width);

// Whether stages may have these layers, and replicas sequences by their length: a stage has a layer for each of
// its virtual stages, and the longest sequences of all must fit a budget of tokens.
[[nodiscard]] bool can_deal(const Execution& execution, const std::vector<int>& layers, bool is_by_length);

// Whether every device type of the cluster can: it has rates for the precisions, and a link to its host where
// something is offloaded.
[[nodiscard]] bool can_execute(const Execution& execution, const Task& task, const Workflow& workflow,
                               const Cluster& cluster);

// Least and most memory of a device of the cluster. Zeros: decode batches are not varied.
struct MemoryRange {
  double min_bytes = 0;
  double max_bytes = 0;
};
[[nodiscard]] MemoryRange memory_range_of(const Cluster& cluster);

// Decode batches of generation that are worth trying for a replica with `sequences`, largest first: 0 (all
// sequences) where their KV cache fits the largest device, then powers of two that fit it, down to the first
// whose cache takes less than a sixteenth of the smallest device, which no other task needs. Just 0 where the
// execution bounds the cache itself.
[[nodiscard]] std::vector<int> decode_batches(const Task& task, const Workflow& workflow,
                                              const Execution& execution, int sequences, int pipeline_parallel,
                                              int width, const MemoryRange& memory);

}  // namespace sextant
