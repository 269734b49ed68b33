// Configurations of verl: launch scripts with Hydra overrides, and YAML files.
//
// Defaults are those of verl/trainer/config/_generated_ppo_trainer.yaml and _generated_ppo_megatron_trainer.yaml
// at v0.7.0 (f9c855f7cf04), github.com/volcengine/verl.
#include <algorithm>

#include "core/json_value.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kActorRoot = "actor_rollout_ref.actor.";
constexpr const char* kRefRoot = "actor_rollout_ref.ref.";
constexpr const char* kRolloutRoot = "actor_rollout_ref.rollout.";
constexpr const char* kCriticRoot = "critic.";

std::string key_of(const char* root, const char* member) { return std::string(root) + member; }

// The value that a key has, or would have by default.
Json value_in(const TrainerSettings& settings, const std::string& key, const Json& otherwise) {
  const Json* value = settings.find(key);
  return value == nullptr || value->is_null() ? otherwise : *value;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool uses_megatron_trainer(const RunSettings& run) {
  const Json strategy = value_in(run.settings, key_of(kActorRoot, "strategy"), nullptr);
  if (strategy.is_string()) return strategy == "megatron";
  const Json* config = run.settings.find("--config-name");
  if (config != nullptr && config->is_string()) return contains(config->get<std::string>(), "megatron");
  return std::any_of(run.settings.all().begin(), run.settings.all().end(), [](const TrainerSetting& one) {
    return one.key.rfind("actor_rollout_ref.actor.megatron.", 0) == 0;
  });
}

// ---- derived defaults ----

// The reference has the layout of the actor unless it is stated.
void derive_reference(TrainerSettings& settings, bool is_megatron) {
  if (!is_megatron) {
    const Json inner =
        value_in(settings, key_of(kActorRoot, "fsdp_config.ulysses_sequence_parallel_size"), nullptr);
    settings.assume(key_of(kActorRoot, "ulysses_sequence_parallel_size"), inner);
    const Json actor = value_in(settings, key_of(kActorRoot, "ulysses_sequence_parallel_size"), inner);
    settings.assume(key_of(kRefRoot, "ulysses_sequence_parallel_size"), actor);
    return;
  }
  for (const char* member :
       {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
        "expert_model_parallel_size", "expert_tensor_parallel_size", "param_offload"})
    settings.assume(key_of(kRefRoot, "megatron.") + member,
                    value_in(settings, key_of(kActorRoot, "megatron.") + member, nullptr));
}

// The keys of a pass's micro-batches.
struct MicroBatchKeys {
  std::string is_dynamic, tokens, per_gpu, of_all;
};

MicroBatchKeys training_keys(const char* root) {
  return {key_of(root, "use_dynamic_bsz"), key_of(root, "ppo_max_token_len_per_gpu"),
          key_of(root, "ppo_micro_batch_size_per_gpu"), key_of(root, "ppo_micro_batch_size")};
}

MicroBatchKeys pass_keys(const char* root) {
  return {key_of(root, "log_prob_use_dynamic_bsz"), key_of(root, "log_prob_max_token_len_per_gpu"),
          key_of(root, "log_prob_micro_batch_size_per_gpu"), key_of(root, "log_prob_micro_batch_size")};
}

// The number of groups of GPUs over which verl divides a micro-batch that is stated for all together.
int groups_of(const TrainerSettings& settings, const char* root, bool is_megatron) {
  int gpus = settings.count("trainer.nnodes", 1, TrainerSettings::kMaxNodes) *
             settings.count("trainer.n_gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode);
  const std::string base = is_megatron ? key_of(root, "megatron.") : std::string(root);
  if (!is_megatron) return gpus / settings.count(base + "ulysses_sequence_parallel_size", 1);
  for (const char* degree :
       {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"})
    gpus /= settings.count(base + degree, 1);
  return gpus;
}

// Values of a pass that does not state its own.
struct MicroBatchDefaults {
  std::string is_dynamic;  // the key whose value counts
  Json tokens;
};

// verl refuses a pass without any micro-batch; here it gets the usual budget of tokens.
void derive_micro_batches(const MicroBatchKeys& keys, const MicroBatchDefaults& otherwise, const char* root,
                          bool is_megatron, RunSettings& run) {
  TrainerSettings& settings = run.settings;
  const Json dynamic = value_in(settings, keys.is_dynamic, value_in(settings, otherwise.is_dynamic, nullptr));
  const Json of_all = value_in(settings, keys.of_all, nullptr);
  settings.assume(keys.tokens, otherwise.tokens);
  settings.assume(keys.is_dynamic, dynamic.is_null() ? Json(false) : dynamic);
  if (dynamic == true) return;
  if (of_all.is_number()) {
    const int groups = std::max(1, groups_of(settings, root, is_megatron));
    settings.assume(keys.per_gpu, std::max(1, settings.count(keys.of_all, 1) / groups));
    return;
  }
  if (!value_in(settings, keys.per_gpu, nullptr).is_null()) return;
  if (settings.has(keys.is_dynamic)) settings.put(keys.is_dynamic, nullptr, "");
  settings.assume(keys.is_dynamic, true);
  run.notes.push_back(keys.per_gpu + " is not stated, which verl refuses: " + keys.is_dynamic +
                      " is assumed, with its default of tokens");
}

void derive_critic(RunSettings& run, const MicroBatchKeys& actor, bool is_megatron) {
  constexpr int kCriticTokens = 32768;
  TrainerSettings& settings = run.settings;
  const MicroBatchKeys keys = training_keys(kCriticRoot);
  derive_micro_batches(keys, {actor.is_dynamic, kCriticTokens}, kCriticRoot, is_megatron, run);
  settings.assume("critic.forward_max_token_len_per_gpu", value_in(settings, keys.tokens, kCriticTokens));
  settings.assume("critic.forward_micro_batch_size_per_gpu", value_in(settings, keys.per_gpu, nullptr));
  settings.assume("critic.model.use_remove_padding", false);
  settings.assume("reward_model.use_dynamic_bsz", value_in(settings, keys.is_dynamic, false));
  settings.assume("reward_model.forward_max_token_len_per_gpu",
                  value_in(settings, "critic.forward_max_token_len_per_gpu", kCriticTokens));
}

// ---- workflow ----

std::string named_model(const TrainerSettings& settings, const char* key) { return settings.text(key, ""); }

// The V1 trainer's way (docs/advance/v1_async_trainer.md of verl, 2026-08): one program with three modes.
enum class V1Mode { none, colocate_async, separate_async };

V1Mode v1_mode(const TrainerSettings& settings) {
  constexpr std::string_view kMode = "trainer.v1.trainer_mode";
  if (!settings.has(kMode) || !settings.flag("trainer.use_v1", true)) return V1Mode::none;
  const std::string mode = settings.text(kMode, "sync");
  if (mode == "separate_async") return V1Mode::separate_async;
  if (mode == "colocate_async") return V1Mode::colocate_async;
  if (mode != "sync")
    throw_bad_input(settings.place_of(kMode) + ": expected sync, colocate_async or separate_async, got " +
                    mode);
  return V1Mode::none;
}

// Generation has GPUs of its own and runs ahead by the batches that it began with.
void read_v1_separate(RunSettings& run, RunFacts& facts) {
  TrainerSettings& settings = run.settings;
  for (const char* name : {"nnodes", "n_gpus_per_node"}) {
    const std::string key = std::string(kRolloutRoot) + name;
    if (settings.has(key)) settings.rename(key, std::string("rollout.") + name);
  }
  facts.staleness = std::max(1, settings.count("trainer.v1.separate_async.num_warmup_batches", 1));
  facts.is_interrupted = true;  // partial rollouts are no switch there
  if (settings.flag("trainer.v1.separate_async.hybrid_rollout.enable_switch", false))
    facts.notes.push_back(
        "trainer.v1.separate_async.hybrid_rollout: in the plan the trainer's GPUs do not generate while they "
        "are idle");
}

void read_verl_mode(RunSettings& run, RunFacts& facts) {
  TrainerSettings& settings = run.settings;
  const V1Mode v1 = v1_mode(settings);
  const auto pool = [&](const std::string& root) {
    return GpuShape{settings.count(root + "nnodes", 1, TrainerSettings::kMaxNodes),
                    settings.count(root + "n_gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode)};
  };
  GpuShape shape = pool("trainer.");
  const bool is_async = contains(run.program, "fully_async");
  facts.mode = is_async || v1 == V1Mode::separate_async ? Mode::asynchronous
               : contains(run.program, "one_step_off")  ? Mode::one_step_off
                                                        : Mode::synchronous;
  if (v1 == V1Mode::separate_async) read_v1_separate(run, facts);
  if (v1 == V1Mode::colocate_async)
    facts.notes.push_back(
        "trainer.v1.trainer_mode=colocate_async: the plan is synchronous; responses that are unfinished when a "
        "batch is "
        "full continue in the next step, which makes steps shorter than predicted");
  if (facts.mode != Mode::synchronous) {
    if (v1 != V1Mode::separate_async)
      facts.staleness = is_async ? settings.number("async_training.staleness_threshold", 0.1) : 1;
    shape = shape_of_pools(shape, pool("rollout."));
  }
  if (settings.flag("reward_model.enable_resource_pool", false))
    shape = shape_of_pools(shape, pool("reward_model."));
  facts.nodes = shape.nodes;
  facts.gpus_per_node = shape.gpus_per_node;
  facts.has_old_log_prob = is_async ? !settings.flag("async_training.use_rollout_log_probs", true)
                                    : !settings.flag("algorithm.rollout_correction.bypass_mode", false);
  if (is_async) facts.is_interrupted = settings.flag("async_training.partial_rollout", true);
}

void read_verl_batches(const TrainerSettings& settings, RunFacts& facts) {
  const int step = settings.count(key_of(kActorRoot, "ppo_mini_batch_size"), 256);
  facts.responses_per_prompt = settings.count(key_of(kRolloutRoot, "n"), 1);
  if (facts.mode == Mode::asynchronous && v1_mode(settings) == V1Mode::none) {
    constexpr int kMaxSteps = 10'000;
    facts.streamed_parts = settings.count("async_training.trigger_parameter_sync_step", 4, kMaxSteps);
    facts.mini_batches = facts.streamed_parts * settings.count("async_training.require_batches", 1, kMaxSteps);
    const long long prompts = 1LL * step * facts.mini_batches;
    if (prompts > TrainerSettings::kMaxCount)
      throw_bad_input(settings.place_of(key_of(kActorRoot, "ppo_mini_batch_size")) + ": " +
                      std::to_string(facts.mini_batches) + " optimizer steps of " + std::to_string(step) +
                      " prompts are more than " + std::to_string(TrainerSettings::kMaxCount) + " prompts");
    facts.prompts = static_cast<int>(prompts);
    facts.without_effect.emplace_back("data.train_batch_size");
  } else {
    facts.prompts = settings.count("data.train_batch_size", 1024);
    facts.mini_batches = std::max(1, facts.prompts / step);
    if (facts.mode == Mode::asynchronous) facts.streamed_parts = facts.mini_batches;
    if (facts.prompts % step != 0)
      facts.notes.push_back("data.train_batch_size is not a multiple of ppo_mini_batch_size: " +
                            std::to_string(facts.mini_batches) + " equal optimizer steps are assumed");
  }
  facts.max_prompt_tokens = settings.count("data.max_prompt_length", 512);
  facts.max_response_tokens = settings.count("data.max_response_length", 512);
}

void read_verl_models(const TrainerSettings& settings, RunFacts& facts) {
  const std::string estimator = settings.text("algorithm.adv_estimator", "gae");
  facts.has_critic = settings.flag("critic.enable", estimator == "gae");
  if (!facts.has_critic && estimator != "grpo")
    facts.notes.push_back("algorithm.adv_estimator=" + estimator + ": the tasks are those of GRPO");
  facts.has_reference = settings.flag(key_of(kActorRoot, "use_kl_loss"), false) ||
                        settings.flag("algorithm.use_kl_in_reward", false);
  facts.has_reward_model = settings.flag("reward_model.enable", false);
  facts.actor = named_model(settings, "actor_rollout_ref.model.path");
  if (facts.has_critic) facts.critic = named_model(settings, "critic.model.path");
  if (facts.has_reward_model) facts.reward = named_model(settings, "reward_model.model.path");
}

// One precision for all tasks: that of the actor's training.
void read_verl_precision(const TrainerSettings& settings, bool is_megatron, RunFacts& facts) {
  const std::string key = key_of(kActorRoot, is_megatron ? "megatron.dtype" : "fsdp_config.dtype");
  facts.precision = precision_of_name(settings.text(key, "bfloat16"));
}

// Offloading is one option of a plan: weights, gradients and optimizer together.
void note_mixed_offload(const TrainerSettings& settings, bool is_megatron, RunFacts& facts) {
  const std::string root = key_of(kActorRoot, is_megatron ? "megatron." : "fsdp_config.");
  const bool weights = settings.flag(root + "param_offload", false);
  const bool optimizer = settings.flag(root + "optimizer_offload", false);
  const bool gradients = is_megatron && settings.flag(root + "grad_offload", false);
  if (weights == optimizer && (!is_megatron || weights == gradients)) return;
  facts.notes.push_back(root + "param_offload decides: the plan offloads weights, gradients and optimizer " +
                        (weights ? "together" : "not at all"));
}

// Megatron's optimizer is on the host as far as its fraction says, which is 0 by default
// (megatron/core/optimizer/optimizer_config.py); a plan has it there or not.
void note_offloaded_fraction(const TrainerSettings& settings, RunFacts& facts) {
  const std::string root = key_of(kActorRoot, "optim.override_optimizer_config.");
  if (!settings.flag(root + "optimizer_cpu_offload", false)) return;
  const double fraction = settings.number(root + "optimizer_offload_fraction", 0);
  if (fraction <= 0)
    facts.notes.push_back(root +
                          "optimizer_offload_fraction is 0, its default: the optimizer stays on the GPUs");
  if (fraction > 0 && fraction < 1)
    facts.notes.push_back(root + "optimizer_offload_fraction: the plan offloads the whole optimizer");
}

void derive_all_micro_batches(const RunFacts& facts, bool is_megatron, RunSettings& run) {
  constexpr int kActorTokens = 16384;
  const MicroBatchKeys actor = training_keys(kActorRoot);
  derive_micro_batches(actor, {actor.is_dynamic, kActorTokens}, kActorRoot, is_megatron, run);
  const MicroBatchDefaults otherwise{actor.is_dynamic, value_in(run.settings, actor.tokens, kActorTokens)};
  if (facts.has_old_log_prob)
    derive_micro_batches(pass_keys(kRolloutRoot), otherwise, kActorRoot, is_megatron, run);
  if (facts.has_reference) derive_micro_batches(pass_keys(kRefRoot), otherwise, kRefRoot, is_megatron, run);
  if (facts.has_critic) derive_critic(run, actor, is_megatron);
}

// Settings of tasks that the workflow does not have.
void leave_out_absent_tasks(RunFacts& facts) {
  if (!facts.has_reference) facts.without_effect.emplace_back("actor_rollout_ref.ref.*");
  if (!facts.has_old_log_prob) facts.without_effect.emplace_back("actor_rollout_ref.rollout.log_prob_*");
  if (!facts.has_critic) facts.without_effect.emplace_back("critic.*");
  if (!facts.has_reward_model) facts.without_effect.emplace_back("reward_model.*");
}

// EasyR1 shares a few keys with verl, from which it was made, and has names of its own for the others.
void refuse_easy_r1(const TrainerSettings& settings) {
  const std::string own = key_below(settings, "worker.actor");
  if (own.empty()) return;
  throw_bad_input(
      settings.place_of(own) +
      ": this is a setting of EasyR1, a fork of verl with settings of its own, which are not read; state "
      "the run in words instead (sextant predict --model, --prompts, --train, --rollout and so on)");
}

RunFacts read_verl_run(RunSettings& run) {
  refuse_easy_r1(run.settings);
  RunFacts facts;
  const bool is_megatron = uses_megatron_trainer(run);
  facts.profile = is_megatron ? "verl-megatron" : "verl-fsdp";
  derive_reference(run.settings, is_megatron);
  read_verl_mode(run, facts);
  read_verl_batches(run.settings, facts);
  read_verl_models(run.settings, facts);
  read_verl_precision(run.settings, is_megatron, facts);
  derive_all_micro_batches(facts, is_megatron, run);
  note_mixed_offload(run.settings, is_megatron, facts);
  if (is_megatron) note_offloaded_fraction(run.settings, facts);
  leave_out_absent_tasks(facts);
  return facts;
}

UnneededSettings verl_unneeded() {
  UnneededSettings out;
  out.without_effect = {"--*",
                        "hydra.*",
                        "trainer.logger",
                        "trainer.*_name",
                        "trainer.total_*",
                        "trainer.*_freq",
                        "trainer.val_*",
                        "trainer.*resume*",
                        "trainer.*dir*",
                        "trainer.log_*",
                        "trainer.*ckpt*",
                        "trainer.critic_warmup",
                        "trainer.use_v1",
                        "trainer.v1.*",  // what is read of it has been read
                        "trainer.device",
                        "trainer.use_legacy_worker_impl",
                        "*.optim.lr*",
                        "*.optim.*warmup*",
                        "*.optim.weight_decay*",
                        "*.optim.clip_grad",
                        "*.optim.betas",
                        "*.optim.min_lr*",
                        "*.optim.total_training_steps",
                        "*.optim.num_cycles",
                        "*.checkpoint.*",
                        "*checkpointing*path",
                        "*.use_dist_checkpointing",
                        "*.use_mbridge",
                        "*.vanilla_mbridge",
                        "data.*_files",
                        "data.*_key",
                        "data.truncation",
                        "data.*shuffle",
                        "data.seed",
                        "data.filter_*",
                        "data.return_*",
                        "data.custom_cls.*",
                        "data.val_batch_size",
                        "data.*_workers",
                        "data.apply_chat_template_kwargs*",
                        "data.trust_remote_code",
                        "algorithm.gamma",
                        "algorithm.lam",
                        "algorithm.kl_*",
                        "algorithm.norm_*",
                        "*.clip_ratio*",
                        "*.cliprange*",
                        "*.entropy_coeff",
                        "*.kl_loss_*",
                        "*.loss_agg_mode",
                        "*.loss_scale_factor",
                        "*.policy_loss.*",
                        "*.grad_clip",
                        "*.data_loader_seed",
                        "*.shuffle",
                        "*.seed",
                        "actor_rollout_ref.rollout.temperature",
                        "actor_rollout_ref.rollout.top_*",
                        "actor_rollout_ref.rollout.do_sample",
                        "actor_rollout_ref.rollout.ignore_eos",
                        "actor_rollout_ref.rollout.val_kwargs.*",
                        "actor_rollout_ref.rollout.name",
                        "actor_rollout_ref.rollout.mode",
                        "actor_rollout_ref.rollout.max_model_len",
                        "actor_rollout_ref.rollout.prompt_length",
                        "actor_rollout_ref.rollout.response_length",
                        "actor_rollout_ref.rollout.load_format",
                        "actor_rollout_ref.rollout.calculate_log_probs",
                        "actor_rollout_ref.rollout.disable_log_stats",
                        "actor_rollout_ref.rollout.trace.*",
                        "actor_rollout_ref.rollout.agent.*",
                        "actor_rollout_ref.hybrid_engine",
                        "rollout.total_rollout_steps",
                        "rollout.n",
                        "data.gen_batch_size",
                        "*.profiler.*",
                        "global_profiler.*",
                        "ray_kwargs.*",
                        "*.strategy",
                        "*.external_lib",
                        "*.trust_remote_code",
                        "*.tokenizer_path",
                        "*.custom_chat_template",
                        "*.use_shm",
                        "*_nccl_timeout",
                        "*.nccl_timeout",
                        "*.override_config.*max_position_embeddings",
                        "*.recompute_method",
                        "*.recompute_num_layers",
                        "*.recompute_modules",
                        "*.lora_alpha",
                        "*.model.lora.alpha",
                        "*.model.lora.type",
                        "*.model.lora.dtype",
                        "*.model.lora.dropout*",
                        "*.model.lora.*_modules",
                        "*.model.lora.*_init_method",
                        "*.model.lora.adapter_path",
                        "*.model.lora.freeze_*",
                        "*.target_modules",
                        "*micro_batch_size*",  // read wherever they count
                        "*max_token_len_per_gpu",
                        "*use_dynamic_bsz",
                        "*.optimizer_offload",
                        "*.grad_offload",
                        "*.fsdp_config.dtype",  // that of the actor counts for all
                        "*.megatron.dtype",
                        "rollout.total_epochs",
                        "rollout.test_freq",
                        "algorithm.filter_groups.metric",
                        "algorithm.filter_groups.max_num_gen_batches",
                        "algorithm.rollout_correction.*",
                        "algorithm.use_kl_in_reward",
                        "actor_rollout_ref.rollout.multi_turn.format",
                        "*.attention_dropout",
                        "*_pdrop",
                        "*.overlong_buffer.*",
                        "reward_model.reward_manager",
                        "reward_model.use_reward_loop",
                        "reward_model.reward_kwargs.*",
                        "custom_reward_function.*"};
  out.neutral = {{"*.ppo_epochs", "1"},
                 {"trainer.balance_batch", "true"},
                 {"*.use_torch_compile", "true"},
                 {"*.forward_prefetch", "false"},
                 {"*.layered_summon", "false"},
                 {"*.moe_token_dispatcher_type", "alltoall"},
                 {"*.moe_enable_deepep", "false"},
                 {"*.use_precision_aware_optimizer", "true"},
                 {"*.overlap_cpu_optimizer_d2h_h2d", "true"},
                 {"*.reshard_after_forward", "true"},
                 {"*.enable_chunked_prefill", "true"},
                 {"*.rollout.pipeline_model_parallel_size", "1"},
                 {"*.rollout.dtype", "bfloat16"},
                 {"*.rollout.dtype", "float16"},
                 {"*.rollout.dtype", "float32"},
                 {"*.model_dtype", "fp32"},
                 {"*.model.lora.merge", "false"},
                 {"*.model.lora.a2a_experimental", "false"},
                 {"*.use_fused_kernels", "false"},
                 {"*.multi_turn.enable", "false"},
                 {"*.filter_groups.enable", "false"},
                 {"reward_model.enable", "false"},
                 {"reward_model.launch_reward_fn_async", "false"}};
  return out;
}

}  // namespace

Importer verl_importer() {
  return {"verl",
          {SettingForm::hydra, {"main_ppo", "main_dapo", "fully_async_main", "main_"}},
          verl_unneeded(),
          read_verl_run,
          {"actor_rollout_ref.actor.use_kl_loss", "true"}};
}

}  // namespace sextant::inline reports
