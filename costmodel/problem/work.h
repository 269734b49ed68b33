// The work of a task's replicas, before any rate is applied: sequences, tokens, micro-batches, decode steps,
// and classes of equivalent replicas.
//
// By default sequences are as long as the longest (HetRL B.1). Execution options change this:
//   padding              unpacked training and inference pad to the longest sequence that is there, of the
//                        replica's batch or of a micro-batch, in the expectation (documents/padded_lengths.h)
//   packed               training and inference see real lengths; generation stops each response at its end
//   continuous_batching  the next sequence takes the place of a response that ends
//   micro_batch_tokens   micro-batches are filled up to a number of tokens
//   micro_batches        counted as the framework counts them (semantics.h)
//   shared_prompts       one prefill serves all responses to a prompt
//   prefill_chunk_tokens prompts pass in chunks, which take the place of micro-batches of generation
//
// Replicas of inference and training may get sequences by length (Replica::length_rank, HetRL 4.2): each then
// has a length distribution of its own, sorted_lengths.h, and pads to its own longest.
//
// Memory has to hold the largest micro-batch of an iteration: of batches that are padded to their longest
// sequence, the one with the longest sequence of all.
//
// Decoding n sequences in c places, with lengths X:
//   fixed places, no stops          steps = (n / c) max X
//   responses stop                  steps = (n / c - 1) E[longest of c] + E[longest of r c]
//   ended ones are replaced         steps = (n - c) E[X] / c + E[longest of r c]
//   asynchronous, working ahead     steps = n E[X] / c
// The third is the time that c places need for all but their last sequences, plus the longest of those of all
// r replicas, since the task ends with the last of them (r: all sequences over this replica's). An
// asynchronous engine never waits for those (AReaL-Hex, seed 003): with a staleness of s it works on s batches
// at once.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "documents/sorted_lengths.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline costmodel {

struct ReplicaWork {
  double sequences = 0;              // nm * mbs: this replica's share of the global batch
  double micro_batches = 0;          // nm, over all mini-batches; for generation with a chunk size its chunks
  double flushes = 1;                // times that the pipeline fills and drains
  double micro_batch_sequences = 0;  // mbs: mean size, smaller than the plan's when it does not divide
  // Sizes for memory: sequences are whole, and micro-batches differ in size.
  double mini_batch_sequences = 0;           // maximum per mini-batch
  double largest_micro_batch_sequences = 0;  // fractional only if the framework splits sequences
  // Lengths of its own sequences if they are assigned by length, else of all sequences.
  double sequence_tokens = 0;   // as TaskWork::sequence_tokens()
  double attention_tokens = 0;  // as TaskWork::attention_tokens
  double memory_tokens = 0;     // of a sequence in the largest micro-batch
  // sequence_tokens of the replica that is expected to have the longest sequences.
  double slowest_tokens = 0;
  // Generation.
  double prefill_sequences = 0;      // prompts that pass through the layers; later turns in prompt lengths
  double prefill_passes = 0;         // micro-batches or chunks of prompt tokens
  double decode_together = 0;        // dbs: sequences of one step
  double decode_batches = 1;         // batches of that size in the pipeline together, at most one a stage
  double decode_steps = 0;           // steps of every stage
  double decode_tokens = 0;          // produced tokens of all sequences
  double decode_context_tokens = 0;  // sum over produced tokens of the tokens each attends to
  double cached_tokens = 0;          // maximum in the KV cache at once, of all batches in the pipeline
  [[nodiscard]] double live_sequences() const { return decode_tokens / decode_steps; }  // mean per step
  [[nodiscard]] double decoding_sequences() const { return decode_together * decode_batches; }
};

// Replicas that differ only in device names: same sequences, same stages on the same kinds of devices at the
// same distances. They cost the same, so the formulas evaluate the first of each class.
struct ReplicaClass {
  int replica = 0;  // index of the first one
  int count = 1;
};

// Two neighbours on a ring, which form one edge.
struct RingEdge {
  DeviceId from;
  DeviceId to;
};

// Resources of the nodes for a ring through all of them: the minimum over the nodes. Nodes of one island
// (sextant/cluster.h) count as one.
struct RingNodes {
  double count = 1;
  double rails = 1;  // members in a node: rings that can leave it in parallel
  double network_bytes_per_s = std::numeric_limits<double>::infinity();
  double inner_bytes_per_s = std::numeric_limits<double>::infinity();  // between members of one node
  std::optional<RingEdge> inner;  // two members of one node, if every node has several
};

// The number of groups like this one, itself included, that leave its node, zone or region at the same time and
// share the links outside.
struct Leaving {
  double node = 1;  // node or island
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
  double tensor_parallel = 1;  // minimum over the replicas: the largest shard
  bool holds_embedding = false;
  bool holds_head = false;
  std::vector<DeviceId> members;  // one per replica and context-parallel part
  Leaving leaving;
  std::optional<RingEdge> ring;    // its slowest edge, if that does not depend on coefficients
  RingNodes nodes;                 // set if `ring` is
  std::optional<RingEdge> inside;  // set if `ring` is: an edge inside a node that the ring has to pass
};

struct TaskWork {
  const Task* task = nullptr;
  const TaskPlan* plan = nullptr;
  const Model* model = nullptr;
  double prompt_tokens =
      0;  // seq_in of the computation: the maximum (B.1), the mean if packed, or the expected longest
  double response_tokens = 0;   // seq_out
  double observed_tokens = 0;   // tokens from the tools of all turns
  double attention_tokens = 0;  // (seq_in + seq_out) for attention: root mean square if packed
  double prompt_attention_tokens = 0;
  double mini_batches = 1;       // training only
  double turns = 1;              // for generation
  double environment_s = 0;      // generation: seconds that a sequence waits in all its turns
  double environments_s = 0;     // generation: seconds that environments need for all; 0: no shortage
  double batches_under_way = 0;  // of an engine that goes on with the next ones; 0: it drains after each
  Precision precision = Precision::bf16;         // of arithmetic
  double element_bytes = 2;                      // B_BF16, or the workflow's precision: activations
  Precision expert_precision = Precision::bf16;  // of arithmetic in routed experts
  double weight_bytes = 2;                       // per stored weight outside routed experts and the head
  double expert_weight_bytes = 2;                // per stored weight of a routed expert
  double cache_bytes = 2;                        // per element of the KV cache
  double gradient_bytes = 2;                     // per gradient that is sent between replicas
  std::set<DeviceId> devices;                    // devices of the plan
  std::vector<ReplicaWork> replicas;             // all
  std::vector<ReplicaClass> classes;             // classes of replicas
  std::vector<GradientGroup> gradient_groups;    // training, and sharded inference; distinct ones only
  // With sharded_over: the parts of these that share what ZeRO shards, and the devices with the same shard.
  std::vector<GradientGroup> shard_groups, copy_groups;
  std::vector<std::vector<std::vector<DeviceId>>> kinds;  // by class and stage: one device of each type

  [[nodiscard]] TaskKind kind() const { return task->kind; }
  [[nodiscard]] double sequence_tokens() const { return prompt_tokens + response_tokens + observed_tokens; }
  [[nodiscard]] const Execution& execution() const { return plan->execution; }
  // Devices over which ZeRO divides what they hold: replicas times context-parallel parts, or a group of them.
  [[nodiscard]] double sharding_devices() const {
    const double holders = static_cast<double>(plan->data_parallel()) * execution().context_parallel;
    return execution().sharded_over > 0 ? std::min<double>(holders, execution().sharded_over) : holders;
  }
  [[nodiscard]] const std::vector<GradientGroup>& sharding_groups() const {
    return execution().sharded_over > 0 ? shard_groups : gradient_groups;
  }
  // Bytes of a weight when layers read it and sharded weights are gathered: weights that are stored in a wider
  // format than the arithmetic's are cast first.
  [[nodiscard]] double moved_weight_bytes() const { return std::min(weight_bytes, element_bytes); }
  [[nodiscard]] double moved_expert_weight_bytes() const {
    return std::min(expert_weight_bytes, element_bytes);
  }
};

// Weights of a slice of `layers` layers of a model over all its shards, with the embedding if it is the first
// and the head if it is the last. A tied head on the same slice is the embedding and is not counted twice.
[[nodiscard]] double slice_parameters(const Model& model, int layers, bool is_first, bool is_last);

// Returns the number of devices over which the experts of a layer are distributed: EP * ETP, which may be fewer than
// the stage has, each of which then holds more of them.
[[nodiscard]] double expert_width(const Execution& execution, double tensor_parallel);

// Share of a layer's experts whose weights one device reads in a pass over `tokens` tokens of its
// tensor-parallel group: the experts to which any token of the ranks that share them is routed. The model must
// have experts.
[[nodiscard]] double expert_share_read(const TaskWork& task, double tensor_parallel, double tokens);

// Devices over which one token's keys and values in a stage are split: each keeps at least one key-value head,
// and the compressed vector of latent attention is not split by tensor parallelism.
[[nodiscard]] double cache_split(const TaskWork& task, const Stage& stage);

// The plan must have passed check_plan. sorted: the workflow's sorted lengths, if the caller has them; plans
// that assign sequences by length need them.
[[nodiscard]] TaskWork work_of(const Task& task, const TaskPlan& plan, const Workflow& workflow,
                               const Cluster& cluster, const SortedLengths* sorted = nullptr);

// Computes only what the cost of the plan's first replica needs: the other replicas are counted, with the same
// work, and need no stages. It is the only class, and there are no gradient groups and no set of devices.
[[nodiscard]] TaskWork work_of_first_replica(const Task& task, const TaskPlan& plan, const Workflow& workflow,
                                             const Cluster& cluster, const SortedLengths* sorted = nullptr);

// Returns the work of every task of the workflow, in its order.
[[nodiscard]] std::vector<TaskWork> works_of(const Workflow& workflow, const Plan& plan,
                                             const Cluster& cluster);

// Sequences of generation that are on their way at the end of an iteration and go on in the next one, for each
// that is finished in an iteration. Zero where every batch is made by itself.
[[nodiscard]] double carried_sequences(const TaskWork& generation, const Workflow& workflow);

}  // namespace sextant::inline costmodel
