#include "calibrate/import/published/training_sources.h"

#include <algorithm>
#include <array>

#include "calibrate/import/published/nvidia_settings.h"
#include "calibrate/import/tables/torchtitan.h"
#include "core/json_value.h"

namespace sextant {
namespace {

bool has_flag(const JsonView& config, std::string_view member) {
  const auto value = config.optional(member);
  return value && value->flag();
}

int count_or(const JsonView& config, std::string_view member, int otherwise) {
  const auto value = config.optional(member);
  return value ? value->count() : otherwise;
}

// Runs of one framework and model share what they do not say about recomputation.
void set_unstated_recompute(MeasuredStep& step) {
  constexpr double kDeviation = 0.2;  // tuned runs of large GPUs: little, if any
  step.unstated.push_back({UnstatedQuantity::recompute, step.framework + " " + step.model.name, kDeviation});
}

// A kind in words (true and false too). prime-rl's "Offload" recomputes and sends what it keeps to the host.
void set_recompute(MeasuredStep& step, const JsonView& config) {
  const auto stated = config.optional("activation_recompute");
  if (!stated) return set_unstated_recompute(step);
  if (stated->json().is_boolean()) {
    step.recompute = stated->flag() ? Recompute::full : Recompute::none;
    return;
  }
  constexpr std::array<std::string_view, 6> kKinds{"full",      "Recompute", "Offload",
                                                   "selective", "attn_only", "none"};
  constexpr std::array<Recompute, 6> kMeaning{Recompute::full,      Recompute::full,      Recompute::full,
                                              Recompute::selective, Recompute::selective, Recompute::none};
  const std::size_t kind = stated->one_of({kKinds.begin(), kKinds.end()});
  step.recompute = kMeaning.at(kind);
  step.execution.offload_activations = kKinds.at(kind) == "Offload";
}

int stated_virtual_stages(const MeasuredStep& step, const JsonView& config) {
  if (step.degrees.pipeline_parallel == 1) return 1;
  if (const auto layers = config.optional("layers_per_virtual_stage")) {
    return std::max(1, step.model.layers / step.degrees.pipeline_parallel / layers->count(1));
  }
  return std::max({1, count_or(config, "vp", 1), count_or(config, "pipeline_interleaving", 1)});
}

// Megatron can count embedding and head as layers, so that its first and last chunks have none of the decoder's
// (405B: 126 layers in 16 x 8 chunks); in a plan every chunk has one.
void set_virtual_stages(MeasuredStep& step, const JsonView& config) {
  const int stated = stated_virtual_stages(step, config);
  const int maximum = std::max(1, step.model.layers / step.degrees.pipeline_parallel);
  step.execution.virtual_stages = std::min(stated, maximum);
  if (stated > maximum) {
    step.notes["assumed"] = std::to_string(maximum) + " virtual stages in place of " + std::to_string(stated) +
                            ", which count embedding and head as layers";
  }
}

// Megatron's pipeline, and experts that no tensor parallelism cuts, as its recipes for mixtures of experts have
// it.
void set_megatron_core(MeasuredStep& step, const JsonView& config) {
  step.execution.semantics = "megatron";
  set_virtual_stages(step, config);
  step.execution.expert_parallel = std::max(1, count_or(config, "ep", 1));
  if (step.execution.expert_parallel > 1) step.execution.expert_tensor_parallel = 1;
  if (!set_nvidia_settings(step, config)) set_recompute(step, config);
}

// NVIDIA's tuned recipes: distributed optimizer or Megatron FSDP, sequence parallelism wherever there is tensor
// parallelism, fused attention.
void set_nvidia_recipe(MeasuredStep& step, const JsonView& config) {
  step.execution.zero_stage = count_or(config, "fsdp", 0) > 1 ? 3 : 1;
  step.execution.sequence_parallel = step.degrees.tensor_parallel > 1;
  step.execution.fused_attention = true;
  set_megatron_core(step, config);
}

void set_megatron_bridge(MeasuredStep& step, const JsonView& config) {
  step.framework = "megatron-bridge";
  set_nvidia_recipe(step, config);
}

void set_nemo(MeasuredStep& step, const JsonView& config) {
  step.framework = "nemo";
  set_nvidia_recipe(step, config);
}

// With expert parallelism or a pipeline FSDP gathers weights once a step and reduces gradients once
// (reshard_after_forward is off there): the traffic of ZeRO stage 1.
void set_automodel(MeasuredStep& step, const JsonView& config) {
  step.framework = "automodel";
  set_megatron_core(step, config);
  step.execution.semantics = kPlainSemantics;
  const bool gathers_once = step.execution.expert_parallel > 1 || step.degrees.pipeline_parallel > 1;
  step.execution.zero_stage = count_or(config, "fsdp", 1) < 2 ? 0 : gathers_once ? 1 : 3;
  step.execution.fused_attention = true;
}

// Megatron-LM of 2021 and 2022: no FlashAttention; sharding and sequence parallelism where the record has them.
void set_megatron_lm(MeasuredStep& step, const JsonView& config) {
  step.framework = "megatron-lm";
  set_megatron_core(step, config);
  step.execution.zero_stage = has_flag(config, "optimizer_sharding") ? 1 : 0;
  step.execution.sequence_parallel = has_flag(config, "sequence_parallel");
}

// prime-rl's RL trainer computes log-probabilities by blocks of the vocabulary (its fused head); its SFT
// trainer holds all logits. A block of 8,192 columns takes about what this number of tokens does with all
// columns.
void set_prime_rl(MeasuredStep& step, const JsonView& config) {
  constexpr double kHopper = 9;
  constexpr int kFusedHeadTokens = 1024;
  step.framework = "prime-rl";
  const auto attention = config.optional("attention");
  const bool is_newer = step.gpu.compute_capability.value_or(0) >= kHopper;
  step.execution.portable_attention = is_newer && attention && attention->text() == "flash_attention_2";
  if (const auto adapters = config.optional("adapter_experts")) {
    step.execution.unfused = adapters->one_of({"grouped", "loop"}) == 1;
  }
  step.execution.zero_stage = step.degrees.data_parallel > 1 ? 3 : 0;
  step.execution.fused_attention = true;
  step.execution.expert_parallel = std::max(1, count_or(config, "ep", 1));
  step.execution.weight_precision = Precision::fp32;  // FSDP's mixed precision casts what it gathers
  if (const auto task = config.optional("task"); task && task->text().starts_with("rl")) {
    step.execution.logit_chunk_tokens = kFusedHeadTokens;
  }
  set_recompute(step, config);
}

// Composer's mixed precision "PURE" reduces gradients in 16 bit, "DEFAULT" in 32.
void set_llm_foundry(MeasuredStep& step, const JsonView& config) {
  constexpr std::array<std::string_view, 2> kStrategies{"FSDP FULL_SHARD", "FSDP SHARD_GRAD_OP"};
  constexpr std::array<std::string_view, 2> kModes{"DEFAULT", "PURE"};
  step.framework = "llm-foundry";
  const bool is_full = config.required("strategy").one_of({kStrategies.begin(), kStrategies.end()}) == 0;
  const bool is_default = config.required("mp_mode").one_of({kModes.begin(), kModes.end()}) == 0;
  step.execution.zero_stage = is_full ? 3 : 2;
  if (is_default) step.execution.gradient_precision = Precision::fp32;
  step.execution.fused_attention = true;
  step.execution.offload_activations = has_flag(config, "activation_cpu_offload");
  set_recompute(step, config);
}

void set_torchtitan_record(MeasuredStep& step, const JsonView& config) {
  const auto recompute = config.optional("activation_recompute");
  set_torchtitan(step, {.recompute = recompute ? recompute->text() : "selective",  // its default
                        .fp8_linears = config.required("precision").text().starts_with("FP8"),
                        .local_batch_sequences = config.required("local_batch").count(1)});
}

constexpr std::array<TrainingSource, 11> kSources{{
    {"automodel", set_automodel, ""},
    {"korthikanti", set_megatron_lm, ""},
    {"llmfoundry", set_llm_foundry, ""},
    {"mbridge", set_megatron_bridge, ""},
    {"mcore", set_megatron_lm, ""},
    {"megatron", set_megatron_lm, ""},
    {"nemo", set_nemo, ""},
    {"prime", set_prime_rl, ""},
    {"sailor", nullptr, "repeated from the tidy table of this source, read as format sailor"},
    {"torchtitan", set_torchtitan_record, ""},
    {"vtrain", nullptr, "repeated from the tidy table of this source, read as format vtrain"},
}};

}  // namespace

const TrainingSource* find_training_source(std::string_view id) {
  for (const TrainingSource& source : kSources) {
    if (source.id == id) return &source;
  }
  return nullptr;
}

}  // namespace sextant
