#include "sextant/execution.h"

#include "documents/field_tables.h"
#include "documents/semantics.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kRecompute{"none", "selective", "full"};
constexpr std::array<std::string_view, 3> kPadding{"maximum", "batch", "micro_batch"};
constexpr std::array<std::string_view, 4> kTrainingGraphs{"none", "routing", "attention", "iteration"};

}  // namespace

const Fields<Execution>& documents::execution_fields() {
  static const Fields<Execution> fields{
      optional("context_parallel", &Execution::context_parallel, count(),
               "A stage's devices are tensor_parallel * context_parallel."),
      optional("expert_parallel", &Execution::expert_parallel, count(),
               "Ranks that share the experts of a layer."),
      optional("expert_tensor_parallel", &Execution::expert_tensor_parallel, number_of(),
               "Inside one expert; 0: as the stage's tensor parallelism."),
      optional("virtual_stages", &Execution::virtual_stages, count(),
               "Model chunks that a device holds (interleaved schedule)."),
      optional("zero_stage", &Execution::zero_stage, whole(0, 3),
               "Sharded over the replicas: 1 optimizer state, 2 gradients too, 3 weights too (FSDP)."),
      optional(
          "sharded_over", &Execution::sharded_over, number_of(),
          "Devices that share what ZeRO shards (hybrid sharding, HSDP); every group of them holds all of it. A "
          "divisor of the devices that hold the same weights; 0: all of these."),
      optional("sequence_parallel", &Execution::sequence_parallel, flag(),
               "Norms and residuals split over the tensor-parallel group."),
      optional("packed", &Execution::packed, flag(),
               "Sequences of their real length one after another, no padding."),
      optional("padding", &Execution::padding, one_of<Padding>(kPadding),
               "Inference and training without packed: sequences are padded to the maximum of the workflow's "
               "lengths, to the longest of a replica's batch, or to the longest of a micro-batch. Missing: as "
               "in the framework's profile, otherwise maximum."),
      optional("continuous_batching", &Execution::continuous_batching, flag(),
               "The next sequence starts as soon as a response is finished."),
      optional("micro_batch_tokens", &Execution::micro_batch_tokens, number_of(),
               "Token budget of a micro-batch, of a device or of a context-parallel group (semantics); 0: "
               "counted in sequences."),
      optional(
          "micro_batches", &Execution::micro_batches, number_of(),
          "Number of micro-batches as the framework counts them (semantics); 0: determined by their size."),
      optional("prefill_chunk_tokens", &Execution::prefill_chunk_tokens, number_of(),
               "Prompt tokens per prefill chunk; an engine with chunks has no micro-batches. 0: those of a "
               "micro-batch. Default without micro_batch_sequences: 8192 with continuous_batching."),
      optional("shared_prompts", &Execution::shared_prompts, flag(),
               "Prefill of a prompt once for its group of responses."),
      optional("fused_attention", &Execution::fused_attention, flag(),
               "Attention scores never leave the chip (FlashAttention)."),
      optional("portable_attention", &Execution::portable_attention, flag(),
               "Fused attention by kernels written for older devices (FlashAttention 2 on Hopper and later)."),
      optional("fused_experts", &Execution::fused_experts, flag(),
               "Activation and casts inside the grouped products of routed experts."),
      optional("fused_dispatch", &Execution::fused_dispatch, flag(),
               "Tokens go to a device of their experts once, and are sorted on their way (DeepEP, HybridEP)."),
      optional("overlap_dispatch", &Execution::overlap_dispatch, flag(),
               "The all-to-all of a micro-batch overlaps the computation of another."),
      optional("unfused", &Execution::unfused, flag(),
               "Kernels as the code of the model writes them: experts in a loop, casts on their own (Hugging "
               "Face Transformers)."),
      optional("eager_layers", &Execution::eager_layers, flag(),
               "Norms and gated activations run operation by operation, as Hugging Face modules without Liger "
               "kernels do, and keep more values for the backward pass."),
      optional("cuda_graphs", &Execution::cuda_graphs, flag(),
               "Decode steps are replayed, not launched kernel by kernel."),
      optional("training_graphs", &Execution::training_graphs, one_of<TrainingGraphs>(kTrainingGraphs),
               "Part of a training pass that is replayed from CUDA graphs, in increasing order: routing of "
               "tokens to experts, also attention, whole iterations."),
      optional("kv_cache_bytes", &Execution::kv_cache_bytes, non_negative(),
               "Bytes per device that the engine reserves for the cache at its start, and keeps while other "
               "tasks run unless offload_weights is set; 0: the need of generation, while it runs."),
      optional("logit_chunk_tokens", &Execution::logit_chunk_tokens, number_of(),
               "Tokens per chunk of a chunked loss or log-probability, whose logits exist at the same time; 0: "
               "those of a micro-batch."),
      optional(
          "fused_loss", &Execution::fused_loss, flag(),
          "One kernel makes the loss and its gradient from the logits as computed, without copies in fp32."),
      optional("offload_optimizer", &Execution::offload_optimizer, flag(),
               "The optimizer runs on the host: gradients and weights cross the host link."),
      optional("offload_weights", &Execution::offload_weights, flag(),
               "States move to the host while other tasks run."),
      optional("offload_gradients", &Execution::offload_gradients, flag(),
               "With offload_weights: gradients are copied to the host too (slime before 0.3.1). Without it "
               "they are "
               "dropped, since the next step makes new ones."),
      optional("offload_activations", &Execution::offload_activations, flag(),
               "Kept activations cross the host link."),
      optional("offload_activation_layers", &Execution::offload_activation_layers, number_of(),
               "Layers of each stage whose activations are offloaded; 0: all of them."),
      optional("lora_rank", &Execution::lora_rank, number_of(),
               "Rank of low-rank adapters on every projection; 0: all weights train."),
      optional("master_weights", &Execution::master_weights, flag(),
               "The optimizer keeps an fp32 copy of weights that are stored in less."),
      optional("precision", &Execution::precision, precision(),
               "Precision of arithmetic; absent: the workflow's."),
      optional("weight_precision", &Execution::weight_precision, precision(),
               "Precision of stored weights; absent: as arithmetic."),
      optional("expert_precision", &Execution::expert_precision, precision(),
               "Precision of arithmetic in routed experts; absent: that of the rest."),
      optional("expert_weight_precision", &Execution::expert_weight_precision, precision(),
               "Precision of stored weights of routed experts; absent: that of their arithmetic if given, "
               "otherwise that of other weights."),
      optional("attention_precision", &Execution::attention_precision, precision(),
               "Precision of arithmetic in attention; absent: the workflow's."),
      optional("cache_precision", &Execution::cache_precision, precision(),
               "Precision of the KV cache; absent: the workflow's."),
      optional("gradient_precision", &Execution::gradient_precision, precision(),
               "Precision of gradients between replicas; absent: as activations."),
      optional("main_gradient_precision", &Execution::main_gradient_precision, precision(),
               "Precision of the gradients that accumulate over micro-batches (Megatron: fp32); absent: as "
               "stored weights."),
      optional("moment_precision", &Execution::moment_precision, precision(),
               "Precision of the two moments of Adam (8-bit optimizers: fp8); absent: fp32."),
      optional("semantics", &Execution::semantics, one_of(semantics_names()),
               "Framework by which options are interpreted."),
  };
  return fields;
}

std::string_view name_of(Recompute recompute) { return name_in(kRecompute, recompute); }

Recompute parse_recompute(const JsonView& view) {
  if (view.json().is_boolean()) return view.flag() ? Recompute::full : Recompute::none;
  return parse_name<Recompute>(view, kRecompute);
}

Execution Execution::parse(const JsonView& view) { return parse_fields(view, execution_fields()); }

Json Execution::to_json() const { return fields_to_json(*this, execution_fields()); }

}  // namespace sextant
