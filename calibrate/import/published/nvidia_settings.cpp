#include "calibrate/import/published/nvidia_settings.h"

#include <algorithm>

#include "core/json_value.h"

namespace sextant {
namespace {

bool has_flag(const JsonView& config, std::string_view member) {
  const auto value = config.optional(member);
  return value && value->flag();
}

TrainingGraphs graphs_with(const JsonView& module) {
  const std::size_t which = module.one_of({"mlp", "moe_router", "moe_preprocess", "attn"});
  if (which == 0) return TrainingGraphs::none;  // launches of the other half of a layer stay
  return which == 3 ? TrainingGraphs::attention : TrainingGraphs::routing;
}

TrainingGraphs graphs_of(const JsonView& config) {
  TrainingGraphs out = TrainingGraphs::none;
  const auto graphs = config.optional("cuda_graphs");
  if (!graphs) return out;
  if (graphs->json().is_string()) {
    return graphs->one_of({"none", "iteration"}) == 1 ? TrainingGraphs::iteration : out;
  }
  for (const JsonView& module : graphs->items()) out = std::max(out, graphs_with(module));
  return out;
}

// The modules that recipes recompute contain no large product: norms, activations, a low-rank projection, the
// few dense layers of a mixture.
bool is_small(const JsonView& module) {
  return module.one_of({"layernorm", "moe_act", "mla_up_proj", "mlp", "core_attn"}) < 4;
}

}  // namespace

bool set_nvidia_settings(MeasuredStep& step, const JsonView& config) {
  const auto modules = config.optional("recompute_modules");
  if (!modules) return false;
  for (const JsonView& module : modules->items()) {
    if (!is_small(module)) step.recompute = Recompute::selective;
  }
  Execution& execution = step.execution;
  execution.training_graphs = graphs_of(config);
  if (const auto dispatcher = config.optional("moe_dispatcher")) {
    execution.fused_dispatch = dispatcher->one_of({"alltoall", "deepep", "hybridep"}) > 0;
  }
  execution.overlap_dispatch = has_flag(config, "moe_a2a_overlap");
  execution.fused_experts = has_flag(config, "fused_grouped_mlp");
  if (has_flag(config, "fp8_attention")) execution.attention_precision = Precision::fp8;
  if (const auto layers = config.optional("activation_offload_layers")) {
    execution.offload_activation_layers = layers->count();
    execution.offload_activations = true;
  }
  if (has_flag(config, "megatron_fsdp")) execution.zero_stage = 3;
  return true;
}

}  // namespace sextant
