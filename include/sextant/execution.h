// The execution of a task beyond its layout: options that frameworks call parallel, memory and engine options.
//
// Every option is off by default, which is HetRL's Appendix B. In a plan document the member "execution" of a
// task holds the options that differ from the default.
#pragma once

#include <optional>
#include <string>

#include "sextant/json.h"
#include "sextant/precision.h"

namespace sextant {

// Activations that the backward pass recomputes: none, those of attention (Korthikanti et al. 2022,
// "selective"), or all of a layer.
enum class Recompute { none, selective, full };

// The part of a training pass that is replayed from CUDA graphs; each value includes the one before: the
// routing of tokens to experts, attention, whole iterations. Decoding has its own switch, `cuda_graphs`.
enum class TrainingGraphs { none, routing, attention, iteration };

// The length to which inference and training pad the sequences of a batch that is not packed: the longest that
// the workflow allows, or the longest of the sequences that are there, of a replica's batch or of a
// micro-batch.
enum class Padding { maximum, batch, micro_batch };

// The default semantics of a framework's options; see semantics.h.
inline constexpr const char* kPlainSemantics = "plain";

struct Execution {
  // Parallelism.
  int context_parallel = 1;        // a stage has tensor_parallel x context_parallel devices
  int expert_parallel = 1;         // ranks that share the experts of a layer
  int expert_tensor_parallel = 0;  // ranks per expert; 0: the stage's tensor parallelism
  int virtual_stages = 1;          // model chunks per device, interleaved schedule
  int zero_stage = 0;              // 1: optimizer state sharded over replicas, 2: gradients, 3: weights (FSDP)
  int sharded_over = 0;            // devices that share what ZeRO shards (hybrid sharding); 0: all that hold it
  bool sequence_parallel = false;  // norms and residuals split over the tensor-parallel group

  // Batches.
  bool packed = false;               // sequences with their real lengths, concatenated without padding
  std::optional<Padding> padding;    // of sequences that are not packed; absent: to the maximum
  bool continuous_batching = false;  // a finished response is replaced by the next sequence
  int micro_batch_tokens = 0;        // token budget of a micro-batch (semantics.h); 0: counted in sequences
  int micro_batches = 0;             // in the framework's counting (semantics.h); 0: from the micro-batch size
  int prefill_chunk_tokens = 0;      // prompt tokens that pass at once; 0: those of a micro-batch
                                     // (fill_in_unstated in plan.h sets it if the plan states neither)
  bool shared_prompts = false;       // one prefill of a prompt for its group of responses

  // Kernels.
  bool fused_attention = false;     // scores stay on the chip (FlashAttention)
  bool portable_attention = false;  // written for older devices (FlashAttention 2 on Hopper and later)
  bool fused_experts = false;       // activation and casts inside the grouped products of routed experts
  bool fused_dispatch = false;      // a token goes to a device once and is sorted on the way (DeepEP, HybridEP)
  bool overlap_dispatch = false;    // all-to-all of a micro-batch overlaps the computation of another
  bool eager_layers = false;        // norms and gated activations keep the values of each operation
  bool unfused = false;             // kernels as in the model's code: a loop over experts, separate casts
  bool cuda_graphs = false;         // decode steps are replayed, not launched kernel by kernel
  TrainingGraphs training_graphs = TrainingGraphs::none;

  // Engine.
  double kv_cache_bytes = 0;  // memory of a device that the engine takes for its cache; 0: no limit

  // Loss.
  int logit_chunk_tokens = 0;  // tokens whose logits exist at once (chunked loss); 0: a micro-batch's
  bool fused_loss = false;     // one kernel computes the loss and its gradient from the stored logits

  // Memory.
  bool offload_optimizer = false;     // Adam runs on the host: gradients and weights cross the host link
  bool offload_weights = false;       // states (and an engine's cache) leave the device while other tasks run
  bool offload_gradients = false;     // with offload_weights: gradients are copied too; false: they are dropped
  bool offload_activations = false;   // kept activations cross the host link
  int offload_activation_layers = 0;  // layers per stage; 0: all layers of the stage

  int lora_rank = 0;  // low-rank adapters on every projection; 0: all weights train

  // Optimizer (Adam).
  bool master_weights = true;  // the optimizer keeps fp32 copies of weights stored in lower precision

  std::optional<Precision> precision;                // of arithmetic; absent: the workflow's
  std::optional<Precision> weight_precision;         // of stored weights; absent: as arithmetic
  std::optional<Precision> expert_precision;         // of arithmetic in routed experts; absent: `precision`
  std::optional<Precision> expert_weight_precision;  // of their stored weights; absent: see work.cpp
  std::optional<Precision> attention_precision;      // of arithmetic in attention; absent: the workflow's
  std::optional<Precision> cache_precision;          // of the KV cache; absent: the workflow's
  std::optional<Precision> gradient_precision;       // in the reduction over replicas; absent: as activations
  std::optional<Precision> main_gradient_precision;  // of the accumulated gradients; absent: as weights
  std::optional<Precision> moment_precision;         // of Adam's two moments; absent: fp32

  std::string semantics{kPlainSemantics};

  [[nodiscard]] bool pads_to_longest() const {  // of inference and training, not to the maximum
    return !packed && padding.value_or(Padding::maximum) != Padding::maximum;
  }

  friend bool operator==(const Execution&, const Execution&) = default;
  static Execution parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;  // only the options that differ from the default
};

[[nodiscard]] std::string_view name_of(Recompute recompute);
// Accepts a name, or true for full and false for none.
[[nodiscard]] Recompute parse_recompute(const JsonView& view);

}  // namespace sextant
