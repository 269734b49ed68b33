// Configurations of NeMo RL: YAML files that extend others, and launch scripts with overrides.
//
// Defaults are those of examples/configs/grpo_math_1B.yaml at v0.7.0 (81aa43dda476), github.com/NVIDIA-NeMo/RL;
// where the files that a configuration extends are beside it, their values count.
#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/import/importers.h"
#include "reports/import/references.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kTotalTokens = "policy.max_total_sequence_length";
constexpr const char* kPromptTokens = "data.max_input_seq_length";
constexpr const char* kNewTokens = "policy.generation.max_new_tokens";

// The other programs of NeMo RL have a section of their own in place of "grpo".
void refuse_other_programs(const TrainerSettings& settings) {
  if (!key_below(settings, "grpo").empty()) return;
  constexpr std::array<std::pair<const char*, const char*>, 4> kOthers{
      {{"sft", "supervised fine-tuning"},
       {"dpo", "DPO"},
       {"rm", "supervised fine-tuning of a reward model"},
       {"distillation", "distillation"}}};
  for (const auto& [section, training] : kOthers) {
    const std::string key = key_below(settings, section);
    if (!key.empty()) refuse_other_training(settings, key, training);
  }
  const std::string ppo = key_below(settings, "ppo");
  if (!ppo.empty())
    throw_bad_input(
        settings.place_of(ppo) +
        ": PPO of NeMo RL, which has a value model, is not read; state the run in words instead (sextant "
        "predict --algorithm ppo --model, --prompts, --train, --rollout and so on)");
}

// Defaults of the file that all examples extend, as far as they are not the readers' own.
void derive_base(TrainerSettings& settings) {
  settings.assume(kTotalTokens, 512);
  settings.assume("policy.train_micro_batch_size", 4);
  settings.assume("policy.logprob_batch_size", "${policy.train_micro_batch_size}");
  settings.assume(kNewTokens, "${policy.max_total_sequence_length}");
  settings.assume(kPromptTokens, "${policy.max_total_sequence_length}");
  settings.assume("policy.sequence_packing.train_mb_tokens",
                  "${mul:${policy.max_total_sequence_length}, ${policy.train_micro_batch_size}}");
  settings.assume("policy.sequence_packing.logprob_mb_tokens",
                  "${mul:${policy.max_total_sequence_length}, ${policy.logprob_batch_size}}");
  resolve_references(settings);
}

void read_nemo_lengths(const TrainerSettings& settings, RunFacts& facts) {
  const int total = settings.count(kTotalTokens, 512);
  facts.max_prompt_tokens = std::min(settings.count(kPromptTokens, total), total);
  facts.max_response_tokens = std::min(settings.count(kNewTokens, total), total);
  if (facts.max_prompt_tokens + facts.max_response_tokens <= total) return;
  constexpr int kPromptPart = 4;  // of the whole, where a configuration leaves it open
  facts.max_prompt_tokens = std::max(1, std::min(facts.max_prompt_tokens, total / kPromptPart));
  facts.max_response_tokens = std::max(1, total - facts.max_prompt_tokens);
  facts.notes.push_back(std::string(kTotalTokens) +
                        " is shorter than prompt and response together: prompts of at most " +
                        std::to_string(facts.max_prompt_tokens) + " tokens are assumed");
}

void read_nemo_batches(const TrainerSettings& settings, RunFacts& facts) {
  facts.prompts = settings.count("grpo.num_prompts_per_step", 32);
  facts.responses_per_prompt = settings.count("grpo.num_generations_per_prompt", 16);
  take_steps(settings.count("policy.train_global_batch_size", 512), "policy.train_global_batch_size", facts);
}

RunFacts read_nemo_run(RunSettings& run) {
  TrainerSettings& settings = run.settings;
  refuse_other_programs(settings);
  derive_base(settings);
  RunFacts facts;
  const bool is_megatron = settings.flag("policy.megatron_cfg.enabled", false);
  facts.profile = is_megatron ? "nemo-rl-megatron" : "nemo-rl-dtensor";
  facts.nodes = settings.count("cluster.num_nodes", 1, TrainerSettings::kMaxNodes);
  facts.gpus_per_node = settings.count("cluster.gpus_per_node", 1, TrainerSettings::kMaxGpusPerNode);
  facts.actor = settings.text("policy.model_name", "");
  if (settings.has("policy.precision"))
    facts.precision = precision_of_name(settings.text("policy.precision", ""));
  facts.has_reference = settings.number("loss_fn.reference_policy_kl_penalty", 0.01) != 0;
  facts.has_old_log_prob = !settings.flag("loss_fn.force_on_policy_ratio", false);
  if (settings.flag("grpo.async_grpo.enabled", false)) {
    const int age = settings.count("grpo.async_grpo.max_trajectory_age_steps", 1);
    facts.is_interrupted = settings.flag("grpo.async_grpo.in_flight_weight_updates", false);
    facts.mode = age == 1 && !facts.is_interrupted ? Mode::one_step_off : Mode::asynchronous;
    facts.staleness = age;
  }
  read_nemo_batches(settings, facts);
  read_nemo_lengths(settings, facts);
  facts.without_effect.emplace_back(is_megatron ? "policy.dtensor_cfg.*" : "policy.megatron_cfg.*");
  if (!is_megatron) return facts;
  const std::string granularity = settings.text("policy.megatron_cfg.recompute_granularity", "full");
  if (granularity != "full")
    facts.notes.push_back("policy.megatron_cfg.recompute_granularity=" + granularity +
                          ": the plan recomputes all activations or none");
  return facts;
}

UnneededSettings nemo_unneeded() {
  UnneededSettings out;
  out.without_effect = {"--*",
                        "defaults",
                        "logger.*",
                        "checkpointing.*",
                        "env.*",
                        "data.*",
                        "grpo.max_num_*",
                        "grpo.val_*",
                        "grpo.*val_*",
                        "grpo.seed",
                        "grpo.normalize_rewards",
                        "grpo.use_leave_one_out_baseline",
                        "grpo.adv_estimator.*",
                        "grpo.advantage_*",
                        "grpo.reward_*",
                        "grpo.overlong_filtering",
                        "grpo.dynamic_sampling_max_gen_batches",
                        "grpo.*_threshold",
                        "grpo.*_advantage",
                        "loss_fn.*",
                        "policy.tokenizer.*",
                        "policy.generation_batch_size",
                        "policy.*_batch_size",  // read wherever they count
                        "policy.sequence_packing.*_mb_tokens",
                        "policy.make_sequence_length_divisible_by",
                        "policy.max_grad_norm",
                        "policy.optimizer*",
                        "policy.scheduler*",
                        "policy.*.scheduler.*",
                        "policy.megatron_cfg.optimizer.*lr",
                        "policy.megatron_cfg.optimizer.*adam*",
                        "policy.megatron_cfg.optimizer.optimizer",
                        "policy.megatron_cfg.optimizer.optimizer_offload_fraction",
                        "policy.megatron_cfg.optimizer.weight_decay",
                        "policy.megatron_cfg.optimizer.clip_grad",
                        "policy.megatron_cfg.optimizer.*dtype*",
                        "policy.megatron_cfg.optimizer.*fp16",
                        "policy.megatron_cfg.optimizer.bf16",
                        "policy.megatron_cfg.optimizer.*sgd*",
                        "policy.*lora_*.*modules",
                        "policy.*alpha",
                        "policy.*dropout*",
                        "policy.*lora_*init*",
                        "policy.*force_reconvert_from_hf",
                        "policy.*router_*",
                        "policy.*mtp_*",
                        "policy.dtensor_cfg.enabled",
                        "policy.dtensor_cfg._v2",
                        "policy.dtensor_cfg.automodel_kwargs*",
                        "policy.sequence_packing.algorithm",
                        "policy.sequence_packing.sequence_length_round",
                        "policy.dynamic_batching.*_mb_tokens",
                        "policy.dynamic_batching.sequence_length_round",
                        "policy.generation.backend",
                        "policy.generation.temperature",
                        "policy.generation.top_*",
                        "policy.generation.stop_*",
                        "policy.generation.port_range_*",
                        "policy.generation.mcore_generation_config.*",
                        "policy.generation.colocated.*",
                        "policy.generation.vllm_cfg.async_engine",
                        "policy.generation.vllm_cfg.max_model_len",
                        "policy.generation.vllm_cfg.*metrics*",
                        "policy.generation.vllm_cfg.use_tqdm",
                        "policy.generation.vllm_cfg.num_*_layers_in_bf16",
                        "policy.draft.*",
                        "*.peft.*",  // read wherever they count
                        "*.lora_cfg.*",
                        "data_plane.*storage*",
                        "data_plane.local_*",
                        "data_plane.impl",
                        "data_plane.global_*",
                        "data_plane.claim_*",
                        "data_plane.backend",
                        "cluster.master_port_*",
                        "*.moe_per_layer_logging",
                        "*.apply_rope_fusion",
                        "*.bias_activation_fusion"};
  out.neutral = {{"policy.megatron_cfg.optimizer.use_precision_aware_optimizer", "true"},
                 {"policy.*.sequence_parallel", "false"},
                 {"policy.*.precision", "bfloat16"},
                 {"policy.*pipeline_dtype", "bfloat16"},
                 {"policy.*kv_cache_dtype", "auto"},
                 {"policy.generation.vllm_cfg.use_deep_gemm", "false"},
                 {"policy.hf_config_overrides", "{}"},
                 {"policy.generation.vllm_kwargs", "{}"},
                 {"policy.*env_vars", "{}"},
                 {"policy.dynamic_batching.enabled", "false"},
                 {"policy.offload_optimizer_for_logprob", "false"},
                 {"policy.megatron_cfg.empty_unused_memory_level", "1"},
                 {"policy.megatron_cfg.moe_permute_fusion", "true"},
                 {"policy.megatron_cfg.moe_enable_deepep", "false"},
                 {"policy.megatron_cfg.moe_token_dispatcher_type", "alltoall"},
                 {"policy.megatron_cfg.moe_shared_expert_overlap", "false"},
                 {"policy.megatron_cfg.defer_fp32_logits", "false"},
                 {"policy.megatron_cfg.gradient_accumulation_fusion", "false"},
                 {"policy.megatron_cfg.use_fused_weighted_squared_relu", "false"},
                 {"policy.megatron_cfg.fp8_cfg.enabled", "false"},
                 {"policy.megatron_cfg.fp8_cfg.*", "e4m3"},
                 {"policy.megatron_cfg.fp8_cfg.*", "blockwise"},
                 {"policy.megatron_cfg.fp8_cfg.*", "false"},
                 {"policy.megatron_cfg.freeze_moe_router", "true"},
                 {"policy.megatron_cfg.distributed_data_parallel_config.grad_reduce_in_fp32", "false"},
                 {"policy.megatron_cfg.distributed_data_parallel_config.overlap_*", "true"},
                 {"policy.megatron_cfg.distributed_data_parallel_config.use_custom_fsdp", "false"},
                 {"policy.megatron_cfg.distributed_data_parallel_config.data_parallel_sharding_strategy",
                  "optim_grads_params"},
                 {"grpo.use_dynamic_sampling", "false"},
                 {"grpo.batch_multiplier", "1"},
                 {"grpo.max_rollout_turns", "1"},
                 {"grpo.async_grpo.*", "false"},
                 {"grpo.async_grpo.*", "1"},
                 {"data_plane.enabled", "false"}};
  return out;
}

}  // namespace

Importer nemo_rl_importer() {
  return {"nemo-rl", {SettingForm::yaml, {"run_grpo"}}, nemo_unneeded(), read_nemo_run};
}

}  // namespace sextant::inline reports
