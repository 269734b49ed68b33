// How a workflow is laid out on a cluster.
//
// Each task has replicas (data parallel); each replica a share of the batch and stages (pipeline
// parallel); each stage its own layer count and the devices of its tensor-parallel group. Nothing
// has to be uniform, and tasks may share devices.
//
// A document may also give a task compactly:
//   {"data_parallel": 2, "pipeline_parallel": 2, "tensor_parallel": 4,
//    "devices": {"first": 0, "count": 16}, "micro_batch_sequences": 8}
// Rule of expansion: stage j of replica i has devices first + ((i * PP) + j) * TP + 0 .. TP - 1; layers
// are dealt evenly, the earliest stages taking one more while a remainder lasts; shares are equal.
// With context parallelism a stage has TP * CP devices in that rule. Documents are written compactly where
// the rule gives the same plan.
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
  // Inference and training, whose sequences are there: replicas of rank 0 take the shortest of the batch, those
  // of the next rank the next; replicas of one rank share theirs out as they come.
  int length_rank = 0;

  [[nodiscard]] int pipeline_parallel() const { return static_cast<int>(stages.size()); }
  [[nodiscard]] std::vector<DeviceId> devices() const;  // stage by stage
  friend bool operator==(const Replica&, const Replica&) = default;
};

struct TaskPlan {
  std::vector<Replica> replicas;
  int micro_batch_sequences = 1;   // mbs; the last micro-batch of a replica may be smaller
  bool states_micro_batch = true;  // false: a document that leaves mbs out; see fill_in_unstated
  int decode_batch_sequences = 0;  // dbs of generation: sequences decoded together; 0 = all of the replica's
  Recompute recompute = Recompute::none;  // training: activations computed again in the backward pass
  Execution execution;

  // Devices that split a stage's matrices: its width without the context-parallel part.
  [[nodiscard]] int tensor_parallel(const Stage& stage) const {
    return stage.width() / execution.context_parallel;
  }
  [[nodiscard]] int data_parallel() const { return static_cast<int>(replicas.size()); }
  [[nodiscard]] std::set<DeviceId> devices() const;
  friend bool operator==(const TaskPlan&, const TaskPlan&) = default;
};

// How trained weights reach generation that has devices of its own; costmodel/terms/weight_sync.h.
enum class WeightSyncMethod {
  shortest,        // the least of the next four
  flat,            // every generation device fetches all weights from the trainers (seed 002, figure 9 top)
  topology_aware,  // one copy crosses to generation on all links at once, then a broadcast there (5.2)
  broadcast,       // gathered, then every tensor to all devices of both pools in one collective (verl, NeMo RL)
  sharded,         // every device of generation fetches its own part, on all links at once
  per_replica,     // HetRL B.2: gathered, a whole copy to each replica of generation, broadcast inside it
};

struct WeightSyncPlan {
  WeightSyncMethod method = WeightSyncMethod::shortest;
  double fraction_sent = 1;  // of the weights: less where only changes travel

  friend bool operator==(const WeightSyncPlan&, const WeightSyncPlan&) = default;
};

// Degrees of a uniform layout on the devices first .. first + dp * pp * tp - 1.
struct UniformLayout {
  int data_parallel = 1;
  int pipeline_parallel = 1;
  int tensor_parallel = 1;  // width of a stage: with context parallelism the product of both
  DeviceId first;
};

// Applies the rule of expansion above.
[[nodiscard]] std::vector<Replica> expand_layout(const UniformLayout& layout, int layers);

// The layout that expands to these replicas, if there is one.
[[nodiscard]] std::optional<UniformLayout> uniform_layout(const std::vector<Replica>& replicas);

struct Plan {
  static constexpr std::string_view kKind = "plan";
  static constexpr SchemaVersion kVersion{1, 1};  // 1.1: length_rank

  std::string name;
  std::map<std::string, TaskPlan> tasks;  // by task name
  WeightSyncPlan weight_sync;

  friend bool operator==(const Plan&, const Plan&) = default;
  // What can be checked without a cluster or a workflow; compact tasks are expanded with `layers` from
  // the document's "layers" member, which a compact task must carry.
  static Plan parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Refuses a plan that cannot be run: unknown or missing task, unknown device, layers not covered, a device
// twice in a task, more tensor parallelism than heads, experts dealt over more devices than hold them, shares
// that do not sum to 1, more replicas or micro-batches than sequences. Error(bad_input) with
// the JSON path inside the plan.
void check_plan(const Plan& plan, const Workflow& workflow, const Cluster& cluster);

// Sequences of each replica of a task: the shares of `sequences` rounded by largest remainder.
[[nodiscard]] std::vector<int> replica_sequences(const TaskPlan& task, int sequences);

// Positions first .. last - 1 in an order of the batch.
struct SequenceRange {
  int first = 0;
  int last = 0;

  friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

// Of each replica the sequences of its rank, shortest first: all of the batch where ranks are the same.
// sequences: of each replica, as replica_sequences has them.
[[nodiscard]] std::vector<SequenceRange> length_ranges(const TaskPlan& task, const std::vector<int>& sequences);

// Whether replicas differ in their ranks.
[[nodiscard]] bool deals_by_length(const TaskPlan& task);

// Chooses how tasks are cut into micro-batches whose document leaves micro_batch_sequences out and has no other
// option that says it (micro_batch_tokens, micro_batches, prefill_chunk_tokens of generation):
//   generation with continuous_batching   prefill_chunk_tokens 8192, the default of engines
//   packed inference and training         micro_batch_tokens 16384, the default of verl, or the longest
//   sequence everything else                       one sequence
// All tasks of the plan state their micro-batch after it. Returns a sentence for each value that was assumed.
// predict() does this itself; whoever hands a plan on to a search or costs it otherwise calls it.
[[nodiscard]] std::vector<std::string> fill_in_unstated(Plan& plan, const Workflow& workflow);

// Whether fill_in_unstated would do nothing.
[[nodiscard]] bool states_all(const Plan& plan);

// For plans that were run: what their document does not state was one sequence.
void take_as_stated(Plan& plan);

// One line for people: "gen dp2 tp1 pp1 on 0-1".
[[nodiscard]] std::string describe(const TaskPlan& task);
[[nodiscard]] std::string describe(const Plan& plan);

}  // namespace sextant
