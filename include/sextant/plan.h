// A plan: the layout of a workflow's tasks on a cluster.
//
// Each task has replicas (data parallelism); each replica has a share of the batch and stages (pipeline
// parallelism); each stage has its own number of layers and the devices of its tensor-parallel group. None of
// these must be uniform, and tasks may share devices.
//
// A document may also give a task compactly:
//   {"data_parallel": 2, "pipeline_parallel": 2, "tensor_parallel": 4,
//    "devices": {"first": 0, "count": 16}, "micro_batch_sequences": 8}
// Rule of expansion: stage j of replica i has devices first + ((i * PP) + j) * TP + 0 .. TP - 1, or, with
// "outermost": "stages" as Megatron numbers its ranks, first + ((j * DP) + i) * TP + 0 .. TP - 1. Layers are
// split evenly, with one more for the earliest stages while a remainder lasts; shares are equal. With context
// parallelism a stage has TP * CP devices in that rule. Documents use the compact form if the rule gives the
// same plan.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/document.h"
#include "sextant/execution.h"
#include "sextant/ids.h"
#include "sextant/json.h"
#include "sextant/workflow.h"

namespace sextant {

struct Stage {
  int layers = 1;
  std::vector<DeviceId> devices;  // in shard order; context-parallel groups one after another

  [[nodiscard]] int width() const { return static_cast<int>(devices.size()); }
  friend bool operator==(const Stage&, const Stage&) = default;
};

struct Replica {
  double batch_share = 1;  // fraction of the global batch; the shares of a task sum to 1
  std::vector<Stage> stages;
  // For inference and training, whose sequences are known: replicas of rank 0 take the shortest sequences of
  // the batch, those of the next rank the next ones; replicas of one rank split theirs in order of arrival.
  int length_rank = 0;

  [[nodiscard]] int pipeline_parallel() const { return static_cast<int>(stages.size()); }
  [[nodiscard]] std::vector<DeviceId> devices() const;  // stage by stage
  friend bool operator==(const Replica&, const Replica&) = default;
};

// The options that the document of a task leaves out. fill_in_unstated and fill_in_from_profile
// (sextant/profile_space.h) choose them.
struct UnstatedOptions {
  bool micro_batch = false;   // micro_batch_sequences
  bool decode_batch = false;  // decode_batch_sequences
  bool recompute = false;
  bool execution = false;  // all of it
  bool outermost = false;  // of a compact layout with several replicas and several stages

  friend bool operator==(const UnstatedOptions&, const UnstatedOptions&) = default;
};

struct TaskPlan {
  std::vector<Replica> replicas;
  int micro_batch_sequences = 1;          // the last micro-batch of a replica may be smaller
  int decode_batch_sequences = 0;         // generation: sequences decoded together; 0: all of the replica's
  Recompute recompute = Recompute::none;  // training: activations recomputed in the backward pass
  Execution execution;
  UnstatedOptions unstated;

  // Number of devices that split a stage's matrices: its width without the context-parallel part.
  [[nodiscard]] int tensor_parallel(const Stage& stage) const {
    return stage.width() / execution.context_parallel;
  }
  [[nodiscard]] int data_parallel() const { return static_cast<int>(replicas.size()); }
  [[nodiscard]] std::set<DeviceId> devices() const;
  friend bool operator==(const TaskPlan&, const TaskPlan&) = default;
};

// Transfer of trained weights to generation on separate devices; see costmodel/terms/weight_sync.h.
enum class WeightSyncMethod {
  shortest,        // the fastest of the next four
  flat,            // every generation device fetches all weights from the trainers (seed 002, figure 9 top)
  topology_aware,  // one copy crosses to generation on all links in parallel, then a broadcast there (5.2)
  broadcast,       // gathered, then each tensor to all devices of both pools in one collective (verl, NeMo RL)
  sharded,         // every generation device fetches its own part, on all links in parallel
  per_replica,     // HetRL B.2: gathered, one copy to each replica of generation, broadcast inside it
};

struct WeightSyncPlan {
  WeightSyncMethod method = WeightSyncMethod::shortest;
  double fraction_sent = 1;  // of the weights: below 1 if only changes are sent
  double bucket_bytes = 0;   // of the buffers in which tensors are packed; 0: tensors are sent one by one

  friend bool operator==(const WeightSyncPlan&, const WeightSyncPlan&) = default;
};

// The degrees of a uniform layout on the devices first .. first + dp * pp * tp - 1.
struct UniformLayout {
  int data_parallel = 1;
  int pipeline_parallel = 1;
  int tensor_parallel = 1;  // width of a stage: with context parallelism TP * CP
  DeviceId first;
  bool has_stages_outermost = false;  // Megatron's order: all replicas of a stage lie next to each other
};

// Applies the rule of expansion above.
[[nodiscard]] std::vector<Replica> expand_layout(const UniformLayout& layout, int layers);

// The layout that expands to these replicas, if there is one; has_stages_outermost only if it makes a
// difference.
[[nodiscard]] std::optional<UniformLayout> uniform_layout(const std::vector<Replica>& replicas);

struct Plan {
  static constexpr std::string_view kKind = "plan";
  static constexpr SchemaVersion kVersion{1, 8};  // 1.1: length_rank; 1.2: padding; 1.3: outermost; 1.4:
                                                  // sharded_over; 1.5: bucket_bytes; 1.6: eager_layers;
                                                  // 1.7: offload_gradients; 1.8: framework

  std::string name;
  std::string framework;  // profile of the framework that the plan was made for, as "verl-fsdp"; may be empty
  std::map<std::string, TaskPlan> tasks;  // by task name
  WeightSyncPlan weight_sync;

  friend bool operator==(const Plan&, const Plan&) = default;
  // Checks everything that needs neither cluster nor workflow. Compact tasks are expanded with the document's
  // member "layers", which a document with compact tasks must have.
  static Plan parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Throws Error(bad_input) with the JSON path inside the plan if the plan cannot run: unknown or missing task,
// unknown device, layers not covered, a device twice in a task, more tensor parallelism than heads, experts
// split over more devices than hold them, shares that do not sum to 1, more replicas or micro-batches than
// sequences.
void check_plan(const Plan& plan, const Workflow& workflow, const Cluster& cluster);

// Number of sequences of each replica of a task: the shares of `sequences` rounded by largest remainder.
[[nodiscard]] std::vector<int> replica_sequences(const TaskPlan& task, int sequences);

// Positions first .. last - 1 in an order of the batch.
struct SequenceRange {
  int first = 0;
  int last = 0;

  friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

// The range of sequences for the rank of each replica, shortest first; the whole batch if all ranks are equal.
// `sequences`: number per replica, as replica_sequences returns it.
[[nodiscard]] std::vector<SequenceRange> length_ranges(const TaskPlan& task, const std::vector<int>& sequences);

// True if replicas have different length ranks.
[[nodiscard]] bool deals_by_length(const TaskPlan& task);

// Chooses the micro-batch of each task whose document leaves out micro_batch_sequences and every other
// option that determines it (micro_batch_tokens, micro_batches, prefill_chunk_tokens of generation):
//   generation with continuous_batching   prefill_chunk_tokens 8192, the default of engines
//   packed inference and training         micro_batch_tokens 16384 (verl's default) or the longest sequence
//   everything else                       one sequence
// Afterwards all tasks of the plan state their micro-batch. Returns one sentence per assumed value.
// predict() calls this itself; other code must call it before it searches from a plan or costs it.
[[nodiscard]] std::vector<std::string> fill_in_unstated(Plan& plan, const Workflow& workflow);

// True if fill_in_unstated would change nothing.
[[nodiscard]] bool states_all(const Plan& plan);

// For plans of measured runs: a micro-batch that the document does not state was one sequence.
void take_as_stated(Plan& plan);

// One line for people: "gen dp2 tp1 pp1 on 0-1".
[[nodiscard]] std::string describe(const TaskPlan& task);
[[nodiscard]] std::string describe(const Plan& plan);

}  // namespace sextant
