// Launches of OpenRLHF and of slime: Ray jobs with flags for the GPUs of each model.
//
// OpenRLHF: flags of version 0.11.0 (3c3be6234e0c), or with the names that flags had until 0.10; defaults are those of
// openrlhf/cli/train_ppo_ray.py, github.com/OpenRLHF/OpenRLHF. slime: defaults of slime/utils/arguments.py at v0.3.1,
// github.com/THUDM/slime; Megatron's own flags, and those of SGLang behind "--sglang-", are in the same list.
#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"
#include "core/text.h"
#include "core/units.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

// ---- OpenRLHF ----

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

constexpr BatchKeys kRayBatches{.prompts = "rollout.batch_size",
                                .responses = "rollout.n_samples_per_prompt",
                                .usual_prompts = 1024,
                                .usual_responses = 1,
                                .response_tokens = "rollout.max_new_tokens",
                                .total_tokens = "data.max_len",
                                .prompt_tokens = "prompt_max_len",
                                .usual_response = 1024,
                                .usual_total = 2048};

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
    note_estimator("algo.advantage.estimator", estimator, facts);
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
  take_batches(settings, kRayBatches, facts);
  if (settings.has("algo.dynamic_filtering_enable") && settings.flag("algo.dynamic_filtering_enable", false))
    facts.notes.emplace_back(
        "algo.dynamic_filtering_enable: responses that the filter drops are generated too, which "
        "is not planned");
  take_steps(settings.count("train.batch_size", 128), "train.batch_size", facts);
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

// ---- slime ----

constexpr BatchKeys kSlimeBatches{.prompts = "rollout-batch-size",
                                  .responses = "n-samples-per-prompt",
                                  .usual_prompts = 32,
                                  .usual_responses = 1,
                                  .response_tokens = "rollout-max-response-len",
                                  .total_tokens = "rollout-max-context-len",
                                  .prompt_tokens = "rollout-max-prompt-len",
                                  .usual_response = 1024,
                                  .usual_total = 0,
                                  .must_state_response = true};

// The number of steps, or the sequences of one.
void read_slime_steps(const TrainerSettings& settings, RunFacts& facts) {
  constexpr int kMaxSteps = 10'000;
  if (settings.has("num-steps-per-rollout")) {
    facts.mini_batches = settings.count("num-steps-per-rollout", 1, kMaxSteps);
    return;
  }
  const long long sequences = 1LL * facts.prompts * facts.responses_per_prompt;
  const auto all = static_cast<int>(std::min<long long>(sequences, TrainerSettings::kMaxCount));
  take_steps(settings.count("global-batch-size", all), "global-batch-size", facts);
}

// Engines with GPUs of their own, as the exporter's reader takes them.
void read_slime_gpus(const TrainerSettings& settings, RunFacts& facts) {
  constexpr int kUsualNode = 8;
  GpuShape shape{settings.count("actor-num-nodes", 1, TrainerSettings::kMaxNodes),
                 settings.count("actor-num-gpus-per-node", kUsualNode, TrainerSettings::kMaxGpusPerNode)};
  if (!settings.flag("colocate", false)) {
    const int gpus = settings.count("rollout-num-gpus", shape.nodes * shape.gpus_per_node),
              node = settings.count("num-gpus-per-node", kUsualNode, TrainerSettings::kMaxGpusPerNode);
    shape = shape_of_pools(shape, gpus % node == 0 ? GpuShape{gpus / node, node} : GpuShape{1, gpus});
  }
  facts.nodes = shape.nodes;
  facts.gpus_per_node = shape.gpus_per_node;
}

void read_slime_mode(const RunSettings& run, RunFacts& facts) {
  facts.is_interrupted = run.settings.flag("partial-rollout", false);
  if (run.program.find("train_async") == std::string::npos) return;
  const std::string rollout = run.settings.text("rollout-function-path", "");
  facts.mode = rollout.find("fully_async") == std::string::npos ? Mode::one_step_off : Mode::asynchronous;
  facts.staleness = 1;
}

// The trainer computes log-probabilities again unless its own first pass gives them (backends/megatron_utils/actor.py,
// can_reuse_log_probs_in_loss) or those of the engine are used.
bool computes_log_probs(const TrainerSettings& settings, const RunFacts& facts, const std::string& estimator) {
  const bool uses_engine = settings.flag("use-rollout-logprobs", false);
  const bool is_reused = facts.mini_batches == 1 && settings.number("kl-coef", 0) == 0 && !facts.has_critic &&
                         !settings.flag("keep-old-actor", false) && estimator != "gspo";
  return !uses_engine && !is_reused;
}

// Prompts whose responses are thrown away are generated too.
void note_oversampling(const TrainerSettings& settings, RunFacts& facts) {
  const int sampled =
      settings.has("over-sampling-batch-size") ? settings.count("over-sampling-batch-size", 1) : facts.prompts;
  if (sampled > facts.prompts)
    facts.notes.push_back("over-sampling-batch-size: generation makes up to " +
                          format_number(1.0 * sampled / facts.prompts) +
                          " times the responses that are trained, which is not planned");
  if (settings.has("dynamic-sampling-filter-path"))
    facts.notes.emplace_back(
        "dynamic-sampling-filter-path: responses that the filter drops are generated too, which "
        "is not planned");
}

RunFacts read_slime_run(RunSettings& run) {
  const TrainerSettings& settings = run.settings;
  const Json* loss = settings.find("loss-type");
  if (loss != nullptr && *loss == "sft_loss")
    refuse_other_training(settings, "loss-type", "supervised fine-tuning");
  RunFacts facts;
  facts.profile = "slime";
  const std::string estimator = settings.text("advantage-estimator", "grpo");
  facts.has_critic = estimator == "ppo";
  if (!facts.has_critic && estimator != "grpo") note_estimator("advantage-estimator", estimator, facts);
  facts.has_reference = settings.flag("use-kl-loss", false) || settings.number("kl-coef", 0) != 0;
  facts.actor = settings.text("hf-checkpoint", "");
  if (settings.has("fp16") && settings.flag("fp16", false)) facts.precision = Precision::fp16;
  read_slime_mode(run, facts);
  read_slime_gpus(settings, facts);
  take_batches(settings, kSlimeBatches, facts);
  note_oversampling(settings, facts);
  read_slime_steps(settings, facts);
  facts.has_old_log_prob = computes_log_probs(settings, facts, estimator);
  const std::string granularity = settings.text("recompute-granularity", "");
  if (granularity == "full" && settings.text("recompute-method", "uniform") != "uniform")
    facts.notes.emplace_back("recompute-method: the plan recomputes all layers");
  return facts;
}

// The same flags, with switches of its own for the rollout and for the pass of log-probabilities.
RunFacts read_miles_run(RunSettings& run) {
  const TrainerSettings& settings = run.settings;
  const std::string backend = settings.has("train-backend") ? settings.text("train-backend", "") : "megatron";
  if (backend != "megatron")
    throw_bad_input(settings.place_of("train-backend") + ": expected megatron, got " + in_quotes(backend) +
                    ": the other trainers of miles are not read");
  RunFacts facts = read_slime_run(run);
  facts.profile = "miles";
  if (settings.integer("lora-rank", 0) > 0) facts.without_effect.emplace_back("megatron-to-hf-mode");
  if (settings.has("fully-async") && settings.flag("fully-async", false)) {
    facts.mode = Mode::asynchronous;
    facts.staleness = settings.count("max-weight-staleness", 1);
  }
  facts.has_old_log_prob =
      !settings.flag("skip-actor-forward-only", false) && !settings.flag("use-rollout-logprobs", false);
  return facts;
}

UnneededSettings slime_unneeded() {
  UnneededSettings out;
  out.without_effect = {
      "load", "ref-load", "save*", "ckpt-*", "no-save-*", "no-load-*", "finetune", "prompt-data", "input-key",
      "label-key", "metadata-key", "tool-key", "apply-chat-template*", "rollout-shuffle", "rollout-seed",
      "rm-*", "custom-*", "reward-key", "eval-*", "*-eval-*", "num-rollout", "num-epoch", "rollout-temperature",
      "rollout-top-*", "rollout-stop*", "rollout-skip-special-tokens", "rollout-function-path", "balance-data",
      "over-sampling-batch-size", "dynamic-sampling-filter-path", "kl-*", "entropy-coef", "eps-clip*", "gamma",
      "lambd", "normalize-advantages", "use-tis", "tis-*", "optimizer", "lr*", "min-lr", "weight-decay",
      "clip-grad", "adam-*", "critic-lr*", "num-critic-only-steps", "value-clip", "use-wandb", "wandb-*",
      "use-tensorboard", "tensorboard-*", "tb-*", "seed", "attention-dropout", "hidden-dropout",
      "attention-softmax-in-fp32", "attention-backend", "log-*", "loss-mask-type", "num-gpus-per-node",
      "recompute-method", "recompute-num-layers", "recompute-modules", "sglang-log-level",
      "sglang-moe-dense-tp-size", "sglang-router-*", "rollout-num-gpus*", "hf-checkpoint",
      "train-memory-margin-bytes", "transformer-impl", "distributed-timeout-minutes",
      // the shape of the model, which its name gives
      "num-layers", "hidden-size", "ffn-hidden-size", "num-attention-heads", "group-query-attention",
      "num-query-groups", "kv-channels", "qk-layernorm", "use-rotary-position-embeddings", "rotary-*",
      "disable-bias-linear", "add-qkv-bias", "normalization", "norm-epsilon", "swiglu", "vocab-size",
      "untie-embeddings-and-output-weights", "num-experts", "moe-ffn-hidden-size", "moe-router-*",
      "moe-layer-freq", "moe-shared-expert-intermediate-size", "moe-aux-loss-coeff", "max-position-embeddings",
      "position-embedding-type", "make-vocab-size-divisible-by"};
  out.neutral = {{"loss-type", "policy_loss"},
                 {"accumulate-allreduce-grads-in-fp32", "true"},
                 {"moe-token-dispatcher-type", "alltoall"},
                 {"moe-grouped-gemm", "true"},
                 {"moe-permute-fusion", "true"},
                 {"bf16", "true"},
                 {"update-weights-interval", "1"},
                 {"use-distributed-optimizer", "true"},
                 {"use-precision-aware-optimizer", "true"},
                 {"overlap-cpu-optimizer-d2h-h2d", "true"}};
  return out;
}

}  // namespace

Importer openrlhf_importer() {
  return {"openrlhf", {SettingForm::flags, {"train_ppo_ray"}}, ray_unneeded(), read_ray_run};
}

Importer miles_importer() {
  UnneededSettings unneeded = slime_unneeded();
  unneeded.without_effect.insert(
      unneeded.without_effect.end(),
      {"tito-model", "dumper-*", "use-mlflow", "mlflow-*", "lora-alpha", "lora-dropout", "lora-type",
       "lora-adapter-path", "lora-sync-from-tensor", "target-modules", "exclude-modules"});
  unneeded.neutral.insert(
      unneeded.neutral.end(),
      {{"train-backend", "megatron"}, {"offload-train-target", "cpu"}, {"qkv-format", "thd"}});
  return {"miles",
          {SettingForm::flags, {"train.py", "train_async.py"}},
          unneeded,
          read_miles_run,
          {"use-kl-loss", "true"}};
}

Importer slime_importer() {
  return {"slime",
          {SettingForm::flags, {"train.py", "train_async.py"}},
          slime_unneeded(),
          read_slime_run,
          {"use-kl-loss", "true"}};
}

}  // namespace sextant::inline reports
