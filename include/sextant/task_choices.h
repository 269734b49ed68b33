// The choices of a search for one task in addition to its devices: execution options, recomputation and decode
// batches, and the layouts that a framework can run.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant {

struct TaskChoices {
  // At least one; the first is the default, used by planners that try only one. All of them store weights in
  // the same way and have adapters of the same rank, so that weight synchronization sends the same data.
  std::vector<Execution> executions{Execution{}};
  // For training; empty: none, and also full if SearchLimits::try_recompute is set.
  std::vector<Recompute> recompute = {};
  // For generation: TaskPlan::decode_batch_sequences. Empty: 0 (all of a replica's sequences) and the powers of
  // two that differ in memory (decode_batches).
  std::vector<int> decode_batch_sequences = {};
  // Used if the micro-batch is counted in sequences. Empty: SearchLimits::micro_batch_sequences.
  std::vector<int> micro_batch_sequences = {};
  // Maximum number of devices that split a stage's matrices, and of stages of a replica. 0: no limit.
  int max_tensor_parallel = 0;
  int max_pipeline_parallel = 0;
  bool has_even_batch = false;  // all replicas get equally many sequences
  bool stages_hold_experts =
      false;  // replicas of several stages hold all their experts, and share none with others
  StageRule stages = StageRule::any;
  RankOrder rank_order = RankOrder::any;

  // True if the choices forbid some layouts.
  [[nodiscard]] bool has_rules() const {
    return max_tensor_parallel > 0 || max_pipeline_parallel > 0 || has_even_batch || stages_hold_experts ||
           stages != StageRule::any || rank_order != RankOrder::any;
  }
  friend bool operator==(const TaskChoices&, const TaskChoices&) = default;
};

// A framework's rules for the devices of pairs of tasks, given by number. The device sets of `same` pairs must be
// identical and those of `apart` pairs disjoint, those of `all_or_none` pairs either; `all_or_within`: if any of
// these pairs shares a device, all of them and all of `within` have the same devices. Each pair that breaks its
// rule adds one to the excess over the limits of the search (Score::overrun).
using TaskPairs = std::vector<std::pair<std::size_t, std::size_t>>;
struct DeviceRules {
  TaskPairs same;
  TaskPairs apart;
  TaskPairs all_or_none = {};
  TaskPairs all_or_within = {};
  TaskPairs within = {};

  [[nodiscard]] bool empty() const {
    return same.empty() && apart.empty() && all_or_none.empty() && all_or_within.empty();
  }
  // Number of broken rules; is_same and overlap compare the device sets of two tasks.
  template <typename IsSame, typename Overlap>
  [[nodiscard]] int broken(IsSame is_same, Overlap overlap) const {
    int count = 0;
    for (const auto& [task, other] : same) count += is_same(task, other) ? 0 : 1;
    for (const auto& [task, other] : apart) count += overlap(task, other) ? 1 : 0;
    for (const auto& [task, other] : all_or_none)
      count += overlap(task, other) && !is_same(task, other) ? 1 : 0;
    int shared = 0, different = 0;
    for (const auto& [task, other] : all_or_within) {
      shared += overlap(task, other) ? 1 : 0;
      different += is_same(task, other) ? 0 : 1;
    }
    if (shared == 0) return count;
    for (const auto& [task, other] : within) different += is_same(task, other) ? 0 : 1;
    return count + (shared < different ? shared : different);
  }
};

// A framework's rules for layouts and options of several tasks, given by number. Searches choose for each task
// alone; when one is over, its plan gets the best layouts and options that obey (planner/search/finish.h).
struct EngineRules {
  TaskPairs same_layout;  // one engine runs both tasks
  struct Common {
    std::vector<std::size_t> tasks;
    std::vector<std::string> options;  // of option_of
  };
  std::vector<Common> common_options = {};
  std::map<std::size_t, OffloadRule> offload_when_shared = {};  // by task
  std::size_t generation = 0, training = 0;                     // the tasks that share devices, or not

  [[nodiscard]] bool empty() const {
    return same_layout.empty() && common_options.empty() && offload_when_shared.empty();
  }
};

// Token budgets of a micro-batch below that of the execution, largest first: halves of it, and at last the next
// multiple of 512 that holds the longest sequence. Empty if there is no budget or none is smaller.
[[nodiscard]] std::vector<int> smaller_token_budgets(const Execution& execution, const Workflow& workflow);

// Choices with this execution alone.
[[nodiscard]] TaskChoices one_choice(const Execution& execution);

// Choices by task, each with one execution.
[[nodiscard]] std::vector<TaskChoices> choices_of(const std::vector<Execution>& executions);

// The choices of a task; the defaults if `choices`, which is by task, is empty.
[[nodiscard]] const TaskChoices& choices_for(const std::vector<TaskChoices>& choices, std::size_t task);

// The recomputation modes that a search tries for a task of this kind.
[[nodiscard]] std::vector<Recompute> recompute_choices(TaskKind kind, const TaskChoices& choices,
                                                       bool try_recompute);

// True if the micro-batch size of a plan affects its cost. False if a token budget, a number of micro-batches
// or an engine's prefill chunk determines how a batch is split.
[[nodiscard]] bool counts_micro_batches_in_sequences(TaskKind kind, const Execution& execution);

// True if a layout with these degrees allows this execution, on any devices: context and expert parallelism,
// virtual stages, the token budget of a micro-batch (sextant/plan.h: check_plan). `width`: devices of a
// stage.
[[nodiscard]] bool can_execute(const Execution& execution, const Task& task, const Workflow& workflow,
                               int data_parallel, int pipeline_parallel, int width);

// The layers of a pipeline's stages that a search tries under the rule, which are a multiple of the virtual
// stages unless the rule is StageRule::any. Under differ_by_one, a remainder is dealt as vLLM deals it (vllm
// distributed/utils.py, get_pp_indices): one layer each to the last stage but one and to those before it. Under even_but_ends, stages that cannot be equal have the rounded
// up average in the middle and fewer layers at both ends, or at the last alone; where that leaves an end
// without layers, the rounded down average and up to one layer more than rounded up at the ends. Empty: none is
// left.
[[nodiscard]] std::vector<std::vector<int>> stage_layers(int layers, int stages, int virtual_stages,
                                                         StageRule rule);

// True if the rule allows stages with these layers.
[[nodiscard]] bool allows(StageRule rule, const std::vector<int>& layers);

// True if stages may have these layers, and replicas sequences by their length: a stage needs one layer for
// each of its virtual stages, and the longest sequence must fit a token budget.
[[nodiscard]] bool can_deal(const Execution& execution, const std::vector<int>& layers, bool is_by_length);

// True if every device type of the cluster supports the execution: it has rates for the precisions, and a link
// to its host if something is offloaded.
[[nodiscard]] bool can_execute(const Execution& execution, const Task& task, const Workflow& workflow,
                               const Cluster& cluster);

// Minimum and maximum memory of the cluster's devices. Zeros: decode batches are not varied.
struct MemoryRange {
  double min_bytes = 0;
  double max_bytes = 0;
};
[[nodiscard]] MemoryRange memory_range_of(const Cluster& cluster);

// Decode batches of generation to try for a replica with `sequences`, largest first: 0 (all sequences) if their
// KV cache fits the largest device, then powers of two that fit it, down to the first whose cache takes less
// than a sixteenth of the smallest device (smaller ones would free too little memory to help another task).
// Only 0 if the execution limits the cache itself.
[[nodiscard]] std::vector<int> decode_batches(const Task& task, const Workflow& workflow,
                                              const Execution& execution, int sequences, int pipeline_parallel,
                                              int width, const MemoryRange& memory);

}  // namespace sextant
