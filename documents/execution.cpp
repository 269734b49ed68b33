#include "sextant/execution.h"

#include "core/json_value.h"
#include "documents/semantics.h"
#include "documents/values/names.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kRecompute{"none", "selective", "full"};
constexpr std::array<std::string_view, 3> kPadding{"maximum", "batch", "micro_batch"};
constexpr std::array<std::string_view, 4> kTrainingGraphs{"none", "routing", "attention", "iteration"};

void read(const JsonView& view, std::string_view member, int minimum, int& out) {
  if (const auto value = view.optional(member)) out = value->count(minimum);
}

void read(const JsonView& view, std::string_view member, bool& out) {
  if (const auto value = view.optional(member)) out = value->flag();
}

void read(const JsonView& view, std::string_view member, std::optional<Precision>& out) {
  if (const auto value = view.optional(member)) out = parse_precision(*value);
}

}  // namespace

std::string_view name_of(Recompute recompute) { return name_in(kRecompute, recompute); }

Recompute parse_recompute(const JsonView& view) {
  if (view.json().is_boolean()) return view.flag() ? Recompute::full : Recompute::none;
  return parse_name<Recompute>(view, kRecompute);
}

Execution Execution::parse(const JsonView& view) {
  view.allow_only({"context_parallel",
                   "expert_parallel",
                   "expert_tensor_parallel",
                   "virtual_stages",
                   "zero_stage",
                   "sequence_parallel",
                   "packed",
                   "padding",
                   "continuous_batching",
                   "micro_batch_tokens",
                   "micro_batches",
                   "prefill_chunk_tokens",
                   "shared_prompts",
                   "fused_attention",
                   "portable_attention",
                   "fused_experts",
                   "fused_dispatch",
                   "overlap_dispatch",
                   "unfused",
                   "cuda_graphs",
                   "training_graphs",
                   "kv_cache_bytes",
                   "logit_chunk_tokens",
                   "fused_loss",
                   "offload_optimizer",
                   "offload_weights",
                   "offload_activations",
                   "offload_activation_layers",
                   "lora_rank",
                   "master_weights",
                   "precision",
                   "weight_precision",
                   "expert_precision",
                   "expert_weight_precision",
                   "attention_precision",
                   "cache_precision",
                   "gradient_precision",
                   "main_gradient_precision",
                   "moment_precision",
                   "semantics"});
  Execution out;
  read(view, "context_parallel", 1, out.context_parallel);
  read(view, "expert_parallel", 1, out.expert_parallel);
  read(view, "expert_tensor_parallel", 0, out.expert_tensor_parallel);
  read(view, "virtual_stages", 1, out.virtual_stages);
  if (const auto stage = view.optional("zero_stage")) out.zero_stage = static_cast<int>(stage->integer(0, 3));
  read(view, "sequence_parallel", out.sequence_parallel);
  read(view, "packed", out.packed);
  if (const auto padding = view.optional("padding")) out.padding = parse_name<Padding>(*padding, kPadding);
  read(view, "continuous_batching", out.continuous_batching);
  read(view, "micro_batch_tokens", 0, out.micro_batch_tokens);
  read(view, "micro_batches", 0, out.micro_batches);
  read(view, "prefill_chunk_tokens", 0, out.prefill_chunk_tokens);
  read(view, "shared_prompts", out.shared_prompts);
  read(view, "fused_attention", out.fused_attention);
  read(view, "portable_attention", out.portable_attention);
  read(view, "fused_experts", out.fused_experts);
  read(view, "fused_dispatch", out.fused_dispatch);
  read(view, "overlap_dispatch", out.overlap_dispatch);
  read(view, "unfused", out.unfused);
  read(view, "cuda_graphs", out.cuda_graphs);
  if (const auto graphs = view.optional("training_graphs")) {
    out.training_graphs = parse_name<TrainingGraphs>(*graphs, kTrainingGraphs);
  }
  if (const auto bytes = view.optional("kv_cache_bytes")) out.kv_cache_bytes = bytes->non_negative();
  read(view, "logit_chunk_tokens", 0, out.logit_chunk_tokens);
  read(view, "fused_loss", out.fused_loss);
  read(view, "offload_optimizer", out.offload_optimizer);
  read(view, "offload_weights", out.offload_weights);
  read(view, "offload_activations", out.offload_activations);
  read(view, "offload_activation_layers", 0, out.offload_activation_layers);
  read(view, "lora_rank", 0, out.lora_rank);
  read(view, "master_weights", out.master_weights);
  read(view, "precision", out.precision);
  read(view, "weight_precision", out.weight_precision);
  read(view, "expert_precision", out.expert_precision);
  read(view, "expert_weight_precision", out.expert_weight_precision);
  read(view, "attention_precision", out.attention_precision);
  read(view, "cache_precision", out.cache_precision);
  read(view, "gradient_precision", out.gradient_precision);
  read(view, "main_gradient_precision", out.main_gradient_precision);
  read(view, "moment_precision", out.moment_precision);
  if (const auto semantics = view.optional("semantics")) {
    out.semantics = semantics_table()[semantics->one_of(semantics_names())].name;
  }
  return out;
}

Json Execution::to_json() const {
  const Execution off;
  Json out = Json::object();
  const auto write = [&out](const char* member, const auto& value, const auto& neutral) {
    if (value != neutral) out[member] = value;
  };
  const auto write_precision = [&out](const char* member, const std::optional<Precision>& value) {
    if (value) out[member] = name_of(*value);
  };
  write("context_parallel", context_parallel, off.context_parallel);
  write("expert_parallel", expert_parallel, off.expert_parallel);
  write("expert_tensor_parallel", expert_tensor_parallel, off.expert_tensor_parallel);
  write("virtual_stages", virtual_stages, off.virtual_stages);
  write("zero_stage", zero_stage, off.zero_stage);
  write("sequence_parallel", sequence_parallel, off.sequence_parallel);
  write("packed", packed, off.packed);
  if (padding) out["padding"] = name_in(kPadding, *padding);
  write("continuous_batching", continuous_batching, off.continuous_batching);
  write("micro_batch_tokens", micro_batch_tokens, off.micro_batch_tokens);
  write("micro_batches", micro_batches, off.micro_batches);
  write("prefill_chunk_tokens", prefill_chunk_tokens, off.prefill_chunk_tokens);
  write("shared_prompts", shared_prompts, off.shared_prompts);
  write("fused_attention", fused_attention, off.fused_attention);
  write("portable_attention", portable_attention, off.portable_attention);
  write("fused_experts", fused_experts, off.fused_experts);
  write("fused_dispatch", fused_dispatch, off.fused_dispatch);
  write("overlap_dispatch", overlap_dispatch, off.overlap_dispatch);
  write("unfused", unfused, off.unfused);
  write("cuda_graphs", cuda_graphs, off.cuda_graphs);
  write("training_graphs", name_in(kTrainingGraphs, training_graphs),
        name_in(kTrainingGraphs, off.training_graphs));
  write("kv_cache_bytes", kv_cache_bytes, off.kv_cache_bytes);
  write("logit_chunk_tokens", logit_chunk_tokens, off.logit_chunk_tokens);
  write("fused_loss", fused_loss, off.fused_loss);
  write("offload_optimizer", offload_optimizer, off.offload_optimizer);
  write("offload_weights", offload_weights, off.offload_weights);
  write("offload_activations", offload_activations, off.offload_activations);
  write("offload_activation_layers", offload_activation_layers, off.offload_activation_layers);
  write("lora_rank", lora_rank, off.lora_rank);
  write("master_weights", master_weights, off.master_weights);
  write_precision("precision", precision);
  write_precision("weight_precision", weight_precision);
  write_precision("expert_precision", expert_precision);
  write_precision("expert_weight_precision", expert_weight_precision);
  write_precision("attention_precision", attention_precision);
  write_precision("cache_precision", cache_precision);
  write_precision("gradient_precision", gradient_precision);
  write_precision("main_gradient_precision", main_gradient_precision);
  write_precision("moment_precision", moment_precision);
  write("semantics", semantics, off.semantics);
  return out;
}

}  // namespace sextant
