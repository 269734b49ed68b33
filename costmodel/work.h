// What a task asks of its replicas, before any rate is looked at: sequences, tokens, micro-batches, decode
// steps, and which replicas are alike so that one of them speaks for all.
//
// By default sequences are as long as the longest (HetRL B.1). What execution options change:
//   packed               training and inference see real lengths; generation stops each response at its end
//   continuous_batching  a response that ends makes place for the next sequence
//   micro_batch_tokens   micro-batches are filled up to a number of tokens
//   micro_batches        counted as the framework counts them (semantics.h)
//   shared_prompts       one prefill serves all responses to a prompt
//   prefill_chunk_tokens prompts pass in chunks, which take the place of micro-batches of generation
//
// Replicas of inference and training may get sequences by length (Replica::length_rank, HetRL 4.2): each then
// has lengths of its own, sorted_lengths.h, and pads to the longest of its own.
//
// Decoding n sequences in c places, with lengths X:
//   fixed places, no stops          steps = (n / c) max X
//   responses stop                  steps = (n / c - 1) E[longest of c] + E[longest of r c]
//   ended ones are replaced         steps = (n - c) E[X] / c + E[longest of r c]
//   asynchronous, working ahead     steps = n E[X] / c
// The last but one is the time that c places need for all but their last sequences, and then the longest of
// those: of all r replicas', since the task ends with the last of them (r: all sequences over this replica's).
// An asynchronous engine never waits for those (AReaL-Hex, seed 003): with a staleness of s it works on s
// batches at once.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/sorted_lengths.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant {

struct ReplicaWork {
  double sequences = 0;              // nm * mbs: this replica's share of the global batch
  double micro_batches = 0;          // nm, over all mini-batches; of generation with a chunk size its chunks
  double flushes = 1;                // times that the pipeline fills and drains
  double micro_batch_sequences = 0;  // mbs: mean size, smaller than the plan's when it does not divide
  // What memory must hold: sequences do not come in parts, and micro-batches are not of one size.
  double mini_batch_sequences = 0;           // most of one mini-batch
  double largest_micro_batch_sequences = 0;  // parts of a sequence only where the framework cuts them
  // Of its own sequences where they are dealt by length, else of all.
  double sequence_tokens = 0;   // as TaskWork::sequence_tokens()
  double attention_tokens = 0;  // as TaskWork::attention_tokens
  // Generation.
  double prefill_sequences = 0;      // whose prompts pass through the layers; later turns in prompts' lengths
  double prefill_passes = 0;         // micro-batches or chunks of prompt tokens
  double decode_together = 0;        // dbs: places
  double decode_waves = 0;           // nm * mbs / dbs of one round (rollout.h); at least 1
  double decode_steps = 0;           // of every stage
  double decode_tokens = 0;          // produced, all sequences
  double decode_context_tokens = 0;  // sum over produced tokens of the tokens each attends to
  double cached_tokens = 0;          // in the KV cache at once, at most: of the sequences that decode together
  [[nodiscard]] double live_sequences() const { return decode_tokens / decode_steps; }  // mean, of a step
};

// Replicas that differ in names only: same sequences, same stages on the same kinds of devices, as near to
// each other. They cost the same, so the formulas look at the first of each class.
struct ReplicaClass {
  int replica = 0;  // the first
  int count = 1;
};

// Two neighbours on a ring.
struct RingEdge {
  DeviceId from;
  DeviceId to;
};

// What the nodes of a ring's members give it: it passes through all of them, so the least counts. Nodes that
// are one island (vocabulary/cluster.h) count as one.
struct RingNodes {
  double count = 1;
  double rails = 1;  // members in a node: rings that can leave it side by side
  double network_bytes_per_s = std::numeric_limits<double>::infinity();
  double inner_bytes_per_s = std::numeric_limits<double>::infinity();  // between members of one node
  std::optional<RingEdge> inner;  // two members of one node, where every node has several
};

// Groups of devices like one, itself too, that leave its node, its zone or its region at the same time: what
// they share outside.
struct Leaving {
  double node = 1;  // or island
  double zone = 1;
  double region = 1;

  static constexpr Leaving all(double groups) { return {groups, groups, groups}; }
  [[nodiscard]] double of(LinkScope scope) const {
    return scope == LinkScope::region ? region : scope == LinkScope::zone ? zone : node;
  }
};

// Devices that hold the same shard of the same layers in every replica, and reduce gradients together.
struct GradientGroup {
  int first_layer = 0;
  int layers = 0;
  double tensor_parallel = 1;  // least of the replicas: the largest shard
  bool holds_embedding = false;
  bool holds_head = false;
  std::vector<DeviceId> members;  // one a replica and context-parallel part
  Leaving leaving;
  std::optional<RingEdge> ring;    // its slowest edge, where that does not depend on coefficients
  RingNodes nodes;                 // where there is `ring`
  std::optional<RingEdge> inside;  // the same: an edge inside a node that the ring has to pass
};

struct TaskWork {
  const Task* task = nullptr;
  const TaskPlan* plan = nullptr;
  const Model* model = nullptr;
  double prompt_tokens = 0;     // seq_in of what is computed: the maximum (B.1), or the mean where packed
  double response_tokens = 0;   // seq_out
  double observed_tokens = 0;   // from the tools of all turns
  double attention_tokens = 0;  // (seq_in + seq_out) as attention sees it: root of the mean square where packed
  double prompt_attention_tokens = 0;
  double mini_batches = 1;                // training only
  double turns = 1;                       // of generation
  double environment_s = 0;               // generation: waited for in all turns of a sequence
  double environments_s = 0;              // generation: that environments need for all; 0: they are enough
  Precision precision = Precision::bf16;  // of arithmetic
  double element_bytes = 2;               // B_BF16, or the workflow's precision: activations
  Precision expert_precision = Precision::bf16;  // of arithmetic in routed experts
  double weight_bytes = 2;                       // of a stored weight outside routed experts and the head
  double expert_weight_bytes = 2;                // of a stored weight of a routed expert
  double cache_bytes = 2;                        // of an element of the KV cache
  double gradient_bytes = 2;                     // of a gradient on its way between replicas
  std::set<DeviceId> devices;                    // of the plan
  std::vector<ReplicaWork> replicas;             // all
  std::vector<ReplicaClass> classes;             // of replicas
  std::vector<GradientGroup> gradient_groups;    // training, and sharded inference; unlike ones only
  std::vector<std::vector<std::vector<DeviceId>>> kinds;  // by class and stage: one device of each type

  [[nodiscard]] TaskKind kind() const { return task->kind; }
  [[nodiscard]] double sequence_tokens() const { return prompt_tokens + response_tokens + observed_tokens; }
  [[nodiscard]] const Execution& execution() const { return plan->execution; }
  // Of a weight as layers read it and sharded ones are gathered: weights that are stored in more than the
  // format of arithmetic are cast first.
  [[nodiscard]] double moved_weight_bytes() const { return std::min(weight_bytes, element_bytes); }
  [[nodiscard]] double moved_expert_weight_bytes() const {
    return std::min(expert_weight_bytes, element_bytes);
  }
};

// Weights of a slice of `layers` layers of a model over all its shards, with the embedding if it is the first
// and the head if it is the last. A tied head on the same slice is the embedding and is not counted twice.
[[nodiscard]] double slice_parameters(const Model& model, int layers, bool is_first, bool is_last);

// Devices over which the experts of a layer are dealt.
[[nodiscard]] double expert_width(const Execution& execution, double tensor_parallel);

// Share of a layer's experts whose weights one device reads in a pass over `tokens` tokens of its
// tensor-parallel group: those that any token of the ranks among which they are dealt is routed to. The model
// must have experts.
[[nodiscard]] double expert_share_read(const TaskWork& task, double tensor_parallel, double tokens);

// Devices over which one token's keys and values in a stage are split: each keeps at least one key-value head,
// and the compressed vector of latent attention is not split by tensor parallelism.
[[nodiscard]] double cache_split(const TaskWork& task, const Stage& stage);

// The plan must have passed check_plan. sorted: of the workflow, where the caller has them already; plans that
// deal by length need them.
[[nodiscard]] TaskWork work_of(const Task& task, const TaskPlan& plan, const Workflow& workflow,
                               const Cluster& cluster, const SortedLengths* sorted = nullptr);

// As far as the cost of the plan's first replica needs it: the others are counted, with the same work, and need
// no stages. It is the only class, and there are no gradient groups and no set of devices.
[[nodiscard]] TaskWork work_of_first_replica(const Task& task, const TaskPlan& plan, const Workflow& workflow,
                                             const Cluster& cluster, const SortedLengths* sorted = nullptr);

// Of every task of the workflow, in its order.
[[nodiscard]] std::vector<TaskWork> works_of(const Workflow& workflow, const Plan& plan,
                                             const Cluster& cluster);

// Sequences of generation that are on their way at the end of an iteration and go on in the next one, for each
// that is finished in an iteration. Zero where every batch is made by itself.
[[nodiscard]] double carried_sequences(const TaskWork& generation, const Workflow& workflow);

}  // namespace sextant
