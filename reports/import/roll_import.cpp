// Configurations of ROLL: YAML files of start_rlvr_pipeline.py. Defaults are those of roll/configs at v0.3.0
// (7f9d4d3873a8), github.com/alibaba/ROLL.
#include <algorithm>

#include "core/json_value.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "reports/import/importers.h"

namespace sextant::inline reports {
namespace {

constexpr BatchKeys kRollBatches{.prompts = "rollout_batch_size",
                                 .responses = "num_return_sequences_in_group",
                                 .usual_prompts = 128,
                                 .usual_responses = 1,
                                 .response_tokens = "response_length",
                                 .total_tokens = "sequence_length",
                                 .prompt_tokens = "prompt_length",
                                 .usual_response = 1024,
                                 .usual_total = 2048};

std::string strategy_of(const std::string& role) { return role + ".strategy_args.strategy_config."; }

// "${oc.env:MODEL_PATH}" is a variable of the shell.
std::string model_of(const std::string& text) {
  constexpr std::string_view kEnvironment = "${oc.env:";
  return text.starts_with(kEnvironment) ? "${" + text.substr(kEnvironment.size()) : text;
}

// The plan is that of Megatron and vLLM; SGLang's engine has other words for the same.
void take_strategies(TrainerSettings& settings, RunFacts& facts) {
  for (const char* role : {"actor_train", "critic", "reference"}) {
    const std::string key = std::string(role) + ".strategy_args.strategy_name";
    const std::string name = settings.text(key, "");
    if (!name.empty() && !name.starts_with("megatron"))
      facts.notes.push_back(key + "=" + name + ": all but sharding is read as with megatron_train");
  }
  const std::string engine = settings.text("actor_infer.strategy_args.strategy_name", "vllm");
  if (engine != "sglang") return;
  const std::string root = strategy_of("actor_infer");
  settings.assume(root + "tensor_parallel_size", settings.count("actor_infer.num_gpus_per_worker", 1));
  constexpr double kDefaultFraction = 0.85;
  settings.assume(root + "gpu_memory_utilization",
                  settings.number(root + "mem_fraction_static", kDefaultFraction) + kEngineWorkspaceFraction);
  facts.notes.emplace_back("the engine is SGLang: other options are read as those of vLLM");
}

void read_roll_gpus(const TrainerSettings& settings, RunFacts& facts) {
  facts.gpus_per_node = settings.count("num_gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode);
  int last = 0;
  // Roles that do not run count too (roll/configs/base_config.py).
  for (const std::string role : {"actor_train", "actor_infer", "reference", "critic"}) {
    const std::string key = role + ".device_mapping";
    if (settings.has(key))
      last = std::max(last, listed_devices(settings.text(key, ""), settings.place_of(key)).back());
  }
  facts.nodes = 1 + last / facts.gpus_per_node;
}

// Sequences of an optimizer step: those of a pass of a replica, times passes, times replicas.
void read_roll_steps(const TrainerSettings& settings, RunFacts& facts) {
  const std::string root = strategy_of("actor_train"), key = "actor_train.device_mapping";
  const auto degree = [&](const char* name) {
    return settings.count(root + name, 1, TrainerSettings::kMaxNodes);
  };
  const long long replica = 1LL * degree("tensor_model_parallel_size") *
                            degree("pipeline_model_parallel_size") * degree("context_parallel_size");
  const long long gpus =
      settings.has(key) ? std::ssize(listed_devices(settings.text(key, ""), settings.place_of(key))) : 1;
  const long long step = std::max(1LL, gpus / std::max(1LL, replica)) *
                         settings.count("actor_train.training_args.per_device_train_batch_size", 8) *
                         settings.count("actor_train.training_args.gradient_accumulation_steps", 1);
  take_steps(step, "gradient_accumulation_steps", facts);
}

RunFacts read_roll_run(RunSettings& run) {
  TrainerSettings& settings = run.settings;
  RunFacts facts;
  facts.profile = "roll";
  take_strategies(settings, facts);
  const std::string estimator = settings.text("adv_estimator", "gae");
  facts.has_critic = estimator == "gae";
  if (!facts.has_critic && estimator != "grpo") note_estimator("adv_estimator", estimator, facts);
  const double penalty = settings.number("init_kl_coef", 0.2);
  facts.has_reference =
      settings.flag("enable_reference", false) || settings.flag("use_kl_loss", false) || penalty > 0;
  facts.actor = model_of(settings.text("pretrain", ""));
  if (settings.has("actor_train.model_args.dtype"))
    facts.precision = precision_of_name(settings.text("actor_train.model_args.dtype", ""));
  if (facts.has_critic) facts.critic = model_of(settings.text("reward_pretrain", ""));
  const int prompt = settings.count("prompt_length", 1024),
            all = settings.count("sequence_length", prompt + 1024);
  settings.assume("response_length", std::max(1, all - prompt));
  take_batches(settings, kRollBatches, facts);
  const double ratio = settings.number("async_generation_ratio", 0);
  facts.mode = ratio <= 0 ? Mode::synchronous : ratio <= 1 ? Mode::one_step_off : Mode::asynchronous;
  facts.staleness = std::max(0.0, ratio);
  read_roll_gpus(settings, facts);
  read_roll_steps(settings, facts);
  const bool is_forced_off = settings.flag("force_disable_old_logprobs_recompute", false);
  const bool is_on = settings.flag("enable_old_logprobs_recompute", false);
  facts.has_old_log_prob = !is_forced_off && (is_on || penalty > 0 || facts.mini_batches > 1);
  return facts;
}

UnneededSettings roll_unneeded() {
  UnneededSettings out;
  out.without_effect = {"defaults",
                        "hydra.*",
                        "exp_name",
                        "seed",
                        "logging_dir",
                        "output_dir",
                        "system_envs.*",
                        "*.system_envs.*",
                        "checkpoint_config.*",
                        "track_with",
                        "tracker_kwargs.*",
                        "max_steps",
                        "save_*",
                        "logging_steps",
                        "eval_steps",
                        "resume_from_checkpoint",
                        "rpc_timeout",
                        "value_clip",
                        "reward_clip",
                        "advantage_clip",
                        "dual_clip_loss",
                        "*norm*",
                        "max_len_mask",
                        "difficulty_*",
                        "error_max_len_*",
                        "*_loss_weight",
                        "add_token_level_kl",
                        "whiten_*",
                        "kl_*",
                        "*_kl_coef",
                        "pg_clip*",
                        "use_pg_clip_range",
                        "gamma",
                        "lambd",
                        "loss_agg_mode",
                        "entropy_loss_coef",
                        "reward_pretrain",
                        "validation.*",
                        "val_*",
                        "*.model_args.*",
                        "lora_*",  // variables of the examples, which roles refer to
                        "*.data_args.*",
                        "*.generating_args.*",
                        "*.training_args.learning_rate",
                        "*.training_args.weight_decay",
                        "*.training_args.warmup_*",
                        "*.training_args.num_train_epochs",
                        "*.training_args.lr_*",
                        "*.strategy_name",
                        "*.gradient_accumulation_steps",
                        "*.worker_cls",
                        "*.max_model_len",
                        "*.block_size",
                        "*.load_format",
                        "rewards.*.reward_*",
                        "rewards.*.tag_included",
                        "rewards.*.world_size",
                        "rewards.*.infer_batch_size",
                        "rewards.*.use_local",
                        "rewards.*.judge_*",
                        "rewards.*.query_filter_config.*",
                        "rewards.*.response_*",
                        "rewards.*.code_url",
                        "rewards.*.strategy_args.*",
                        "rewards.*.strategy_config",
                        "*.strategy_config.bf16",  // model_args.dtype says it
                        "*.strategy_config.fp16",
                        "actor_infer.infer_batch_size",
                        "*.min_num_micro_batches_*",
                        "*.sequence_length_round_*",
                        "is_num_return_sequences_expand",
                        "use_additional_prompts",
                        "is_use_additional_prompts",
                        "max_running_requests",
                        "generate_opt_level",
                        "max_additional_running_prompts",
                        "global_template",
                        "tag_to_template.*",
                        "postive_loss_coef",
                        "use_topr_*",
                        "rl_loss_coef",
                        "importance_sampling",
                        "actor_infer.num_gpus_per_worker",
                        "*.offload_nccl",
                        "*.moe_token_dispatcher_type",
                        "*.overlap_p2p_comm",
                        "reward_shift",
                        "reward_scale",
                        "*pg_variant",
                        "offload_nccl",
                        "*.apply_rope_fusion",
                        "*.bias_activation_fusion",
                        "*.bf16",
                        "actor_train.infer_batch_size",
                        "*.variable_seq_lengths",
                        "--*"};
  out.neutral = {{"ppo_epochs", "1"},
                 {"*.moe_grouped_gemm", "true"},
                 {"*.moe_permute_fusion", "true"},
                 {"*.recompute_method", "uniform"},
                 {"*.recompute_num_layers", "1"},
                 {"*.overlap_grad_reduce", "false"},
                 {"critic_warmup", "0"},
                 {"num_nodes", "1"}};
  return out;
}

}  // namespace

Importer roll_importer() {
  return {"roll",
          {SettingForm::yaml, {"start_rlvr_pipeline", "start_agentic_pipeline"}, {}, false},
          roll_unneeded(),
          read_roll_run,
          {"enable_reference", "true"}};
}

}  // namespace sextant::inline reports
