// How a task is executed, beyond its layout: what frameworks call parallel, memory and engine options.
//
// Everything is off by default, which is HetRL's Appendix B. In a plan document the member "execution" of a
// task holds those that are not.
#pragma once

#include <optional>
#include <string>

#include "sextant/json.h"
#include "sextant/precision.h"

namespace sextant {

// Activations that the backward pass computes again: none, those of attention (Korthikanti et al. 2022,
// "selective"), or all of a layer.
enum class Recompute { none, selective, full };

// What of a training pass is replayed from CUDA graphs, each more than the one before: the routing of tokens to
// experts, attention too, or whole iterations. Decoding has a switch of its own, `cuda_graphs`.
enum class TrainingGraphs { none, routing, attention, iteration };

// What a framework means by its knobs; see semantics.h.
inline constexpr const char* kPlainSemantics = "plain";

struct Execution {
  // Parallelism.
  int context_parallel = 1;        // a stage's devices are tensor_parallel x context_parallel of these
  int expert_parallel = 1;         // ranks that share the experts of a layer
  int expert_tensor_parallel = 0;  // inside one expert; 0: as the stage's tensor parallelism
  int virtual_stages = 1;          // model chunks a device holds, interleaved schedule
  int zero_stage = 0;              // 1: optimizer state sharded over replicas, 2: gradients, 3: weights (FSDP)
  bool sequence_parallel = false;  // norms and residuals split over the tensor-parallel group

  // Batches.
  bool packed = false;               // sequences of their real length one after another, no padding
  bool continuous_batching = false;  // a finished response makes place for the next sequence
  int micro_batch_tokens = 0;        // token budget of a micro-batch (semantics); 0: counted in sequences
  int micro_batches = 0;             // as the framework counts them (semantics); 0: by size
  int prefill_chunk_tokens = 0;      // tokens of prompts that pass at once; 0: a micro-batch's
                                     // (fill_in_unstated in plan.h chooses it where neither is stated)
  bool shared_prompts = false;       // prefill of a prompt once for its group of responses

  // Kernels.
  bool fused_attention = false;     // scores never leave the chip (FlashAttention)
  bool portable_attention = false;  // written for older devices (FlashAttention 2 on Hopper and later)
  bool fused_experts = false;       // activation and casts inside the grouped products of routed experts
  bool fused_dispatch = false;    // tokens go to a device once, and are sorted on their way (DeepEP, HybridEP)
  bool overlap_dispatch = false;  // all-to-all of a micro-batch beside the computation of another
  bool unfused = false;      // kernels as the model's code writes them: experts in a loop, casts on their own
  bool cuda_graphs = false;  // decode steps are replayed, not launched kernel by kernel
  TrainingGraphs training_graphs = TrainingGraphs::none;

  // Engine.
  double kv_cache_bytes = 0;  // a device keeps for the cache; 0: not limited

  // Loss.
  int logit_chunk_tokens = 0;  // tokens whose logits exist at once (chunked loss); 0: those of a micro-batch
  bool fused_loss = false;     // one kernel makes the loss and its gradient from the logits as computed

  // Memory.
  bool offload_optimizer = false;     // Adam runs on the host: gradients and weights cross the host link
  bool offload_weights = false;       // states move to the host while other tasks run
  bool offload_activations = false;   // kept activations cross the host link
  int offload_activation_layers = 0;  // of each stage; 0: of all its layers

  int lora_rank = 0;  // low-rank adapters on every projection; 0: all weights train

  // Optimizer (Adam).
  bool master_weights = true;  // the optimizer keeps an fp32 copy of weights that are stored in less

  std::optional<Precision> precision;                // of arithmetic; absent: the workflow's
  std::optional<Precision> weight_precision;         // as weights are stored; absent: as arithmetic
  std::optional<Precision> expert_precision;         // of arithmetic in routed experts; absent: `precision`
  std::optional<Precision> expert_weight_precision;  // as their weights are stored; absent: see work.cpp
  std::optional<Precision> attention_precision;      // of arithmetic in attention; absent: the workflow's
  std::optional<Precision> cache_precision;          // of the KV cache; absent: the workflow's
  std::optional<Precision> gradient_precision;       // as replicas reduce gradients; absent: as activations
  std::optional<Precision> main_gradient_precision;  // of the gradients that accumulate; absent: as weights
  std::optional<Precision> moment_precision;         // of Adam's two moments; absent: fp32

  std::string semantics{kPlainSemantics};

  friend bool operator==(const Execution&, const Execution&) = default;
  static Execution parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;  // only what differs from the default
};

[[nodiscard]] std::string_view name_of(Recompute recompute);
// A name, or true for full and false for none.
[[nodiscard]] Recompute parse_recompute(const JsonView& view);

}  // namespace sextant
