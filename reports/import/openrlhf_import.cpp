// Configurations of OpenRLHF: command lines with flags of version 0.11.0 (3c3be6234e0c), or with the names that
// flags had until 0.10. Defaults are those of openrlhf/cli/train_ppo_ray.py, github.com/OpenRLHF/OpenRLHF.
#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"
#include "reports/import/importers.h"

namespace sextant {
namespace {

using RenamedFlag = std::pair<std::string_view, std::string_view>;
constexpr std::array kRenamed{
    RenamedFlag{"actor_num_nodes", "actor.num_nodes"},
    RenamedFlag{"actor_num_gpus_per_node", "actor.num_gpus_per_node"},
    RenamedFlag{"ref_num_nodes", "ref.num_nodes"},
    RenamedFlag{"ref_num_gpus_per_node", "ref.num_gpus_per_node"},
    RenamedFlag{"critic_num_nodes", "critic.num_nodes"},
    RenamedFlag{"critic_num_gpus_per_node", "critic.num_gpus_per_node"},
    RenamedFlag{"reward_num_nodes", "reward.num_nodes"},
    RenamedFlag{"reward_num_gpus_per_node", "reward.num_gpus_per_node"},
    RenamedFlag{"vllm_num_engines", "vllm.num_engines"},
    RenamedFlag{"vllm_tensor_parallel_size", "vllm.tensor_parallel_size"},
    RenamedFlag{"vllm_gpu_memory_utilization", "vllm.gpu_memory_utilization"},
    RenamedFlag{"vllm_enable_sleep", "vllm.enable_sleep"},
    RenamedFlag{"vllm_sync_backend", "vllm.sync_backend"},
    RenamedFlag{"enable_prefix_caching", "vllm.enable_prefix_caching"},
    RenamedFlag{"enforce_eager", "vllm.enforce_eager"},
    RenamedFlag{"colocate_all_models", "train.colocate_all"},
    RenamedFlag{"colocate_actor_ref", "train.colocate_actor_ref"},
    RenamedFlag{"colocate_critic_reward", "train.colocate_critic_reward"},
    RenamedFlag{"pretrain", "actor.model_name_or_path"},
    RenamedFlag{"critic_pretrain", "critic.model_name_or_path"},
    RenamedFlag{"reward_pretrain", "reward.model_name_or_path"},
    RenamedFlag{"remote_rm_url", "reward.remote_url"},
    RenamedFlag{"agent_func_path", "train.agent_func_path"},
    RenamedFlag{"zero_stage", "ds.zero_stage"},
    RenamedFlag{"ds_tensor_parallel_size", "ds.tensor_parallel_size"},
    RenamedFlag{"ring_attn_size", "ds.ring_attn_size"},
    RenamedFlag{"adam_offload", "ds.adam_offload"},
    RenamedFlag{"deepspeed_enable_sleep", "ds.enable_sleep"},
    RenamedFlag{"packing_samples", "ds.packing_samples"},
    RenamedFlag{"lora_rank", "ds.lora.rank"},
    RenamedFlag{"gradient_checkpointing", "actor.gradient_checkpointing_enable"},
    RenamedFlag{"train_batch_size", "train.batch_size"},
    RenamedFlag{"micro_train_batch_size", "train.micro_batch_size"},
    RenamedFlag{"rollout_batch_size", "rollout.batch_size"},
    RenamedFlag{"micro_rollout_batch_size", "rollout.micro_batch_size"},
    RenamedFlag{"n_samples_per_prompt", "rollout.n_samples_per_prompt"},
    RenamedFlag{"use_dynamic_batch", "train.dynamic_batch_enable"},
    RenamedFlag{"train_max_tokens_per_gpu", "train.max_tokens_per_gpu"},
    RenamedFlag{"rollout_max_tokens_per_gpu", "rollout.max_tokens_per_gpu"},
    RenamedFlag{"max_len", "data.max_len"},
    RenamedFlag{"max_new_tokens", "rollout.max_new_tokens"},
    RenamedFlag{"generate_max_len", "rollout.max_new_tokens"},
    RenamedFlag{"max_epochs", "train.max_epochs"},
    RenamedFlag{"advantage_estimator", "algo.advantage.estimator"},
    RenamedFlag{"init_kl_coef", "algo.kl.init_coef"},
    RenamedFlag{"use_kl_loss", "algo.kl.use_loss"},
    RenamedFlag{"async_train", "train.async_enable"},
    RenamedFlag{"async_queue_size", "train.async_queue_size"},
    RenamedFlag{"partial_rollout", "train.partial_rollout_enable"},
};

void rename_flags(TrainerSettings& settings) {
  const std::vector<TrainerSetting> all = settings.all();
  for (const TrainerSetting& one : all) {
    const auto found =
        std::find_if(kRenamed.begin(), kRenamed.end(), [&](const auto& pair) { return pair.first == one.key; });
    if (found != kRenamed.end()) settings.rename(one.key, std::string(found->second));
    if (one.key != "ref_reward_offload") continue;
    settings.rename(one.key, "ref.offload");
    settings.put("reward.offload", one.value, one.where);
  }
}

GpuShape pool_of(const TrainerSettings& settings, const std::string& role) {
  return {settings.count(role + ".num_nodes", 1, TrainerSettings::kMaxNodes),
          settings.count(role + ".num_gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode)};
}

// Models with GPUs of their own, and the engines' GPUs, take nodes after one another.
void read_ray_gpus(const TrainerSettings& settings, RunFacts& facts) {
  GpuShape shape = pool_of(settings, "actor");
  const bool is_one = settings.flag("train.colocate_all", false);
  if (!is_one) {
    const auto add = [&](const char* role, bool is_there, const char* shared) {
      if (is_there && !settings.flag(shared, false)) shape = shape_of_pools(shape, pool_of(settings, role));
    };
    add("ref", facts.has_reference, "train.colocate_actor_ref");
    if (facts.has_critic) shape = shape_of_pools(shape, pool_of(settings, "critic"));
    add("reward", facts.has_reward_model, "train.colocate_critic_reward");
  }
  if (!is_one || facts.mode != Mode::synchronous) {
    const int engines = settings.count("vllm.num_engines", 1, TrainerSettings::kMaxNodes),
              width = settings.count("vllm.tensor_parallel_size", 1, TrainerSettings::kMaxGpusPerNode);
    const int gpus = engines * width, node = std::max(1, shape.gpus_per_node);
    shape = shape_of_pools(shape, gpus <= node ? GpuShape{1, gpus} : GpuShape{1 + (gpus - 1) / node, node});
  }
  facts.nodes = shape.nodes;
  facts.gpus_per_node = shape.gpus_per_node;
}

void read_ray_lengths(const TrainerSettings& settings, RunFacts& facts) {
  const int total = settings.count("data.max_len", 2048);
  facts.max_response_tokens = settings.count("rollout.max_new_tokens", 1024);
  const int rest = total - facts.max_response_tokens;
  facts.max_prompt_tokens = settings.count("prompt_max_len", rest > 0 ? rest : 1024);
}

void read_ray_batches(const TrainerSettings& settings, RunFacts& facts) {
  facts.prompts = settings.count("rollout.batch_size", 1024);
  facts.responses_per_prompt = settings.count("rollout.n_samples_per_prompt", 1);
  const long long sequences = 1LL * facts.prompts * facts.responses_per_prompt;
  const int step = settings.count("train.batch_size", 128);
  facts.mini_batches = static_cast<int>(std::max(1LL, sequences / step));
  if (sequences % step != 0)
    facts.notes.push_back("train.batch_size does not divide the sequences of a batch: " +
                          std::to_string(facts.mini_batches) + " equal optimizer steps are assumed");
}

// The program changes its own flags in this way after it has read them.
void derive_ray_flags(TrainerSettings& settings) {
  const bool counts_tokens = settings.flag("train.dynamic_batch_enable", false);
  const bool is_ring = settings.count("ds.ring_attn_size", 1) > 1;
  if (counts_tokens || is_ring) settings.assume("ds.packing_samples", true);
  if (!settings.flag("train.colocate_all", false) && settings.flag("vllm.enable_sleep", false))
    settings.put("vllm.enable_sleep", false, "");
}

RunFacts read_ray_run(RunSettings& run) {
  TrainerSettings& settings = run.settings;
  rename_flags(settings);
  derive_ray_flags(settings);
  RunFacts facts;
  facts.profile = "openrlhf";
  const std::string estimator = settings.text("algo.advantage.estimator", "gae");
  facts.has_critic = estimator == "gae";
  if (!facts.has_critic && estimator != "group_norm")
    facts.notes.push_back("algo.advantage.estimator=" + estimator + ": the tasks are those of GRPO");
  facts.has_reference = settings.number("algo.kl.init_coef", 0.01) > 0;
  facts.has_old_log_prob = true;
  const bool has_server = settings.has("reward.remote_url") || settings.has("train.agent_func_path");
  facts.has_reward_model = !has_server;
  facts.actor = settings.text("actor.model_name_or_path", "");
  if (facts.has_reward_model) facts.reward = settings.text("reward.model_name_or_path", "");
  if (facts.has_critic) facts.critic = settings.text("critic.model_name_or_path", facts.reward);
  if (settings.flag("train.async_enable", false)) {
    const int queue = settings.count("train.async_queue_size", 1);
    facts.is_interrupted = settings.flag("train.partial_rollout_enable", false);
    facts.mode = queue == 1 && !facts.is_interrupted ? Mode::one_step_off : Mode::asynchronous;
    facts.staleness = queue;
  }
  read_ray_gpus(settings, facts);
  read_ray_batches(settings, facts);
  read_ray_lengths(settings, facts);
  return facts;
}

UnneededSettings ray_unneeded() {
  UnneededSettings out;
  out.without_effect = {
      "logger.*", "ckpt.*", "eval.*", "data.prompt_*", "data.input_*", "data.label_key",
      "data.apply_chat_template", "data.max_samples", "data.tokenizer*", "reward.remote_url",
      "reward.model_name_or_path", "reward.clip_range", "reward.normalize_enable", "reward.overlong*",
      "train.agent_func_path", "train.num_episodes", "train.seed", "algo.*", "actor.adam*", "critic.adam*",
      "*.lr", "*.lr_*", "*.max_norm", "actor.eps_clip*", "actor.entropy*", "rollout.temperature",
      "rollout.top_p", "ds.lora.*", "ds.ring_attn_head_stride", "ring_head_stride", "*micro_batch_size",
      "ds.param_dtype", "ds.attn_implementation",
      "*.num_nodes",  // read wherever they count
      "*.num_gpus_per_node", "vllm.num_engines", "vllm.sync_backend", "vllm.sync_with_ray",
      // names until 0.10
      "save_*", "*_path", "ckpt_*", "load_checkpoint", "logging_steps", "eval_*", "use_wandb", "wandb_*",
      "use_tensorboard", "actor_learning_rate", "critic_learning_rate", "lr_*", "prompt_data*", "input_*",
      "label_key", "apply_chat_template", "normalize_reward", "num_episodes", "max_samples", "gamma", "lambd",
      "eps_clip*", "kl_*", "use_kl_estimator_k3", "reward_clip_range", "temperature", "top_p", "seed",
      "max_norm", "flash_attn", "attn_implementation", "lora_*", "disable_ds_ckpt", "max_ckpt_*",
      "*use_reentrant", "*_reentrant"};
  out.neutral = {
      {"bf16", "true"}, {"param_dtype", "bf16"}, {"train.max_epochs", "1"}, {"ds.zpg", "1"}, {"zpg", "1"}};
  return out;
}

}  // namespace

Importer openrlhf_importer() {
  return {"openrlhf", {SettingForm::flags, {"train_ppo_ray"}}, ray_unneeded(), read_ray_run};
}

}  // namespace sextant
