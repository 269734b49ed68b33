// Rules between the settings of a framework: what its program refuses when it reads its arguments. Every exported
// script follows them. A rule names the file of the framework that has it, at the version of the profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "reports/export/trainers/dialect_parts.h"
#include "sextant/error.h"
#include "tests/reports/export/random_trainer_plans.h"

namespace sextant::test {
namespace {

// A script as its framework reads it.
struct ReadScript {
  const TrainerSettings settings;
  const std::string& text;
  const Workflow& workflow;

  [[nodiscard]] bool has(const std::string& key) const { return settings.has(key); }
  [[nodiscard]] bool is_on(const std::string& key) const { return settings.flag(key, false); }
  [[nodiscard]] int number(const std::string& key, int otherwise = 1) const {
    return settings.integer(key, otherwise);
  }
  [[nodiscard]] std::string word(const std::string& key) const { return settings.text(key, ""); }
  [[nodiscard]] bool says(const std::string& part) const { return text.find(part) != std::string::npos; }
  [[nodiscard]] int longest_sequence() const {
    return max_prompt_tokens(workflow) + max_response_tokens(workflow);
  }
  [[nodiscard]] bool has_experts() const { return workflow.models.at("actor").experts.has_value(); }
};

using Answer = std::optional<bool>;  // nullopt: the rule is about other scripts
constexpr std::nullopt_t kOther = std::nullopt;

struct Rule {
  const char* family;  // of profiles
  const char* says;
  const char* source;
  Answer (*holds)(const ReadScript& script);
};

bool is_megatron_script(const ReadScript& script) { return script.says("ppo_megatron_trainer"); }
bool is_verl_recipe(const ReadScript& script) { return script.says("python3 -m recipe."); }

// A budget of micro-batches times the parts of a sequence.
bool holds_longest(const ReadScript& script, const std::string& budget, int parts) {
  return !script.has(budget) || 1LL * script.number(budget) * parts >= script.longest_sequence();
}

Answer verl_offloads_whole_optimizer(const ReadScript& script) {
  bool applies = false, holds = true;
  for (const std::string root : {"actor_rollout_ref.actor.", "critic."}) {
    const std::string optimizer = root + "optim.override_optimizer_config.";
    if (!script.is_on(optimizer + "optimizer_cpu_offload")) continue;
    applies = true;
    holds = holds && script.settings.number(optimizer + "optimizer_offload_fraction", 0) == 1 &&
            script.is_on(optimizer + "use_precision_aware_optimizer") &&
            script.is_on(optimizer + "overlap_cpu_optimizer_d2h_h2d") &&
            script.is_on(root + "megatron.use_distributed_optimizer");
  }
  return applies ? Answer(holds) : kOther;
}

Answer verl_has_one_fsdp(const ReadScript& script) {
  if (!is_verl_recipe(script) || is_megatron_script(script)) return kOther;
  return script.word("actor_rollout_ref.actor.strategy") == script.word("critic.strategy");
}

Answer verl_budgets(const ReadScript& script) {
  const std::string root = "actor_rollout_ref.";
  const auto parts = [&](const std::string& task) {
    return is_megatron_script(script) ? script.number(root + task + "megatron.context_parallel_size")
                                      : script.number(root + task + "ulysses_sequence_parallel_size");
  };
  return holds_longest(script, root + "actor.ppo_max_token_len_per_gpu", parts("actor.")) &&
         holds_longest(script, root + "rollout.log_prob_max_token_len_per_gpu", parts("actor.")) &&
         holds_longest(script, root + "ref.log_prob_max_token_len_per_gpu", parts("ref."));
}

Answer slime_divides_gpus(const ReadScript& script) {
  const int gpus = script.number("actor-num-nodes") * script.number("actor-num-gpus-per-node");
  const int stages = script.number("pipeline-model-parallel-size");
  const int of_replica =
      script.number("tensor-model-parallel-size") * stages * script.number("context-parallel-size");
  const int of_experts =
      script.number("expert-tensor-parallel-size") * script.number("expert-model-parallel-size") * stages;
  return gpus % of_replica == 0 && gpus % of_experts == 0;
}

int slime_replicas(const ReadScript& script) {
  return script.number("actor-num-nodes") * script.number("actor-num-gpus-per-node") /
         (script.number("tensor-model-parallel-size") * script.number("pipeline-model-parallel-size") *
          script.number("context-parallel-size"));
}

Answer slime_divides_batches(const ReadScript& script) {
  const bool counts_tokens = script.is_on("use-dynamic-batch-size");
  const int step = script.number("rollout-batch-size") * script.number("n-samples-per-prompt") /
                   script.number("num-steps-per-rollout");
  const int parts = slime_replicas(script) * (counts_tokens ? 1 : script.number("micro-batch-size"));
  const int group =
      script.has("num-virtual-stages-per-pipeline-rank") ? script.number("pipeline-model-parallel-size") : 1;
  return step % parts == 0 && (counts_tokens ? step >= parts * group : step % (parts * group) == 0);
}

Answer slime_divides_stages(const ReadScript& script) {
  const int chunks = script.number("num-virtual-stages-per-pipeline-rank");
  if (chunks == 1) return kOther;
  const int stages = script.number("pipeline-model-parallel-size"),
            layers = script.workflow.models.at("actor").layers;
  const int first = script.number("decoder-first-pipeline-num-layers", layers / stages),
            last = script.number("decoder-last-pipeline-num-layers", layers / stages);
  const int inner = stages > 2 ? (layers - first - last) / (stages - 2) : 0;
  return first % chunks == 0 && last % chunks == 0 && inner % chunks == 0;
}

// A mixture of experts with tensor parallelism.
Answer megatron_splits_sequences(const ReadScript& script, const std::string& root, const char* tensor,
                                 const char* split) {
  if (!script.has_experts() || script.number(root + tensor) == 1) return kOther;
  return script.is_on(root + split);
}

Answer nemo_divides_nodes(const ReadScript& script) {
  const std::string colocated = "policy.generation.colocated.";
  if (script.settings.flag(colocated + "enabled", true)) return kOther;
  if (script.number("cluster.num_nodes") == 1)
    return script.number(colocated + "resources.gpus_per_node") < script.number("cluster.gpus_per_node");
  return script.number(colocated + "resources.num_nodes", 0) > 0 &&
         script.number(colocated + "resources.gpus_per_node") == script.number("cluster.gpus_per_node");
}

int nemo_tensor_parallel(const ReadScript& script) {
  return script.is_on("policy.megatron_cfg.enabled")
             ? script.number("policy.megatron_cfg.tensor_model_parallel_size")
             : script.number("policy.dtensor_cfg.tensor_parallel_size");
}

// GPUs of a replica of SkyRL's policy: Ulysses splits sequences over those of FSDP.
int ranks_of_a_replica(const ReadScript& script) {
  const std::string megatron = "trainer.policy.megatron_config.";
  return script.number("trainer.policy.sequence_parallel_size") *
         script.number(megatron + "tensor_model_parallel_size") *
         script.number(megatron + "pipeline_model_parallel_size") *
         script.number(megatron + "context_parallel_size");
}

Answer areal_switches_offloading_on(const ReadScript& script) {
  const bool is_shared = script.word("rollout.scheduling_strategy.type") == "colocation";
  const bool offloads = is_shared || script.is_on("actor.offload") || script.is_on("critic.offload") ||
                        script.is_on("ref.offload");
  if (!offloads) return kOther;
  return script.says("\n    enable_offload=True\n") &&
         (!is_shared || script.word("actor.weight_update_mode") == "disk");
}

Answer roll_divides_gpus(const ReadScript& script) {
  const std::string root = "actor_train.strategy_args.strategy_config.";
  const int replica = script.number(root + "tensor_model_parallel_size") *
                      script.number(root + "pipeline_model_parallel_size") *
                      script.number(root + "context_parallel_size");
  return listed_devices(script.word("actor_train.device_mapping"), "x").size() %
             static_cast<std::size_t>(replica) ==
         0;
}

const std::string kRollTrain = "actor_train.";
const std::string kRollTrainConfig = "actor_train.strategy_args.strategy_config.";

int roll_replicas(const ReadScript& script) {
  return static_cast<int>(listed_devices(script.word("actor_train.device_mapping"), "x").size()) /
         (script.number(kRollTrainConfig + "tensor_model_parallel_size") *
          script.number(kRollTrainConfig + "pipeline_model_parallel_size") *
          script.number(kRollTrainConfig + "context_parallel_size"));
}

Answer roll_divides_steps(const ReadScript& script) {
  if (script.is_on("actor_train.use_dynamic_batching_in_train")) return kOther;
  const int sequences = script.number("rollout_batch_size") * script.number("num_return_sequences_in_group") /
                        roll_replicas(script);
  const int step = script.number("actor_train.training_args.per_device_train_batch_size") *
                   script.number("actor_train.training_args.gradient_accumulation_steps");
  return sequences % step == 0;
}

Answer roll_pads_batches(const ReadScript& script) {
  bool applies = false, holds = true;
  for (const std::string end : {"train", "infer"}) {
    if (!script.is_on(kRollTrain + "use_dynamic_batching_in_" + end)) continue;
    applies = true;
    const int rounding = script.number(kRollTrain + "sequence_length_round_in_" + end, 4),
              context = script.number(kRollTrainConfig + "context_parallel_size");
    const int parts =
        script.number(kRollTrainConfig + "tensor_model_parallel_size") * (context > 1 ? 2 * context : 1);
    const int padded = (script.longest_sequence() + rounding - 1) / rounding * rounding;
    holds = holds && rounding % parts == 0 &&
            script.number(kRollTrain + "max_tokens_per_microbatch_in_" + end) >= padded &&
            (script.number("prompt_length") + script.number("response_length")) % rounding == 0;
  }
  return applies ? Answer(holds) : kOther;
}

// Sequences without packing have the whole length, which Megatron divides among the devices of a stage.
Answer roll_divides_length(const ReadScript& script) {
  bool applies = false, holds = true;
  const int length = script.number("prompt_length") + script.number("response_length");
  for (const std::string role : {"actor_train.", "reference."}) {
    if (!script.has(role + "infer_batch_size") || script.is_on(role + "use_sequence_packing")) continue;
    applies = true;
    const std::string root = role + "strategy_args.strategy_config.";
    const int context = script.number(root + "context_parallel_size");
    holds =
        holds &&
        length % (script.number(root + "tensor_model_parallel_size") * (context > 1 ? 2 * context : 1)) == 0;
  }
  return applies ? Answer(holds) : kOther;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {"verl", "an optimizer on the host is there as a whole",
       "github.com/NVIDIA/Megatron-LM megatron/core/optimizer/optimizer_config.py",
       verl_offloads_whole_optimizer},
      {"verl", "the rollouter of asynchronous training gets log-probabilities, and no batch size",
       "github.com/volcengine/verl recipe/fully_async_policy/fully_async_rollouter.py",
       [](const ReadScript& script) -> Answer {
         if (!script.says("fully_async_main")) return kOther;
         return script.is_on("actor_rollout_ref.rollout.calculate_log_probs") &&
                script.number("data.train_batch_size") == 0 && script.number("data.gen_batch_size", 0) == 1 &&
                !script.settings.flag("actor_rollout_ref.hybrid_engine", true);
       }},
      {"verl", "actor and critic of a recipe have one version of FSDP",
       "github.com/volcengine/verl recipe/one_step_off_policy/main_ppo.py", verl_has_one_fsdp},
      {"verl", "an engine's expert parallelism is tensor times data parallelism",
       "github.com/volcengine/verl verl/workers/config/rollout.py",
       [](const ReadScript& script) -> Answer {
         const std::string root = "actor_rollout_ref.rollout.";
         const int experts = script.number(root + "expert_parallel_size");
         if (experts == 1) return kOther;
         return experts ==
                script.number(root + "tensor_model_parallel_size") * script.number(root + "data_parallel_size");
       }},
      {"verl", "Ulysses needs batches without padding",
       "github.com/volcengine/verl verl/workers/config/actor.py",
       [](const ReadScript& script) -> Answer {
         if (script.number("actor_rollout_ref.actor.ulysses_sequence_parallel_size") == 1) return kOther;
         return script.is_on("actor_rollout_ref.model.use_remove_padding");
       }},
      {"verl", "a micro-batch holds the longest sequence",
       "github.com/volcengine/verl verl/utils/seqlen_balancing.py", verl_budgets},
      {"slime", "training ends", "github.com/THUDM/slime slime/utils/arguments.py",
       [](const ReadScript& script) -> Answer { return script.has("num-rollout") || script.has("num-epoch"); }},
      {"slime", "an optimizer on the host is a precision-aware one",
       "github.com/NVIDIA/Megatron-LM megatron/training/arguments.py",
       [](const ReadScript& script) -> Answer {
         if (!script.is_on("optimizer-cpu-offload")) return kOther;
         return script.is_on("use-precision-aware-optimizer") && script.is_on("overlap-cpu-optimizer-d2h-h2d");
       }},
      {"slime", "one connection of the device is enough for tensor and context parallelism",
       "github.com/NVIDIA/Megatron-LM megatron/training/arguments.py",
       [](const ReadScript& script) -> Answer {
         if (script.number("tensor-model-parallel-size") * script.number("context-parallel-size") == 1)
           return kOther;
         return script.says("\"CUDA_DEVICE_MAX_CONNECTIONS\": \"1\"");
       }},
      {"slime", "replicas and experts divide the GPUs",
       "github.com/NVIDIA/Megatron-LM megatron/training/arguments.py", slime_divides_gpus},
      {"slime", "dropout is off, because Megatron's default is 0.1",
       "github.com/NVIDIA/Megatron-LM megatron/training/arguments.py",
       [](const ReadScript& script) -> Answer {
         return script.settings.number("attention-dropout", 0.1) == 0 &&
                script.settings.number("hidden-dropout", 0.1) == 0;
       }},
      {"slime", "asynchronous training has GPUs of its own", "github.com/THUDM/slime train_async.py",
       [](const ReadScript& script) -> Answer {
         return script.says("train_async.py") ? Answer(!script.is_on("colocate")) : kOther;
       }},
      {"slime", "batches that count tokens have a budget", "github.com/THUDM/slime slime/utils/arguments.py",
       [](const ReadScript& script) -> Answer {
         return script.is_on("use-dynamic-batch-size") ? Answer(script.has("max-tokens-per-gpu")) : kOther;
       }},
      {"slime", "replicas of an engine's attention divide its GPUs, and only with their switch",
       "github.com/THUDM/slime slime/backends/sglang_utils/arguments.py",
       [](const ReadScript& script) -> Answer {
         const int replicas = script.number("sglang-dp-size");
         if (replicas == 1) return kOther;
         return script.is_on("sglang-enable-dp-attention") &&
                script.number("rollout-num-gpus-per-engine") % replicas == 0;
       }},
      {"slime", "an optimizer step has whole micro-batches of all replicas",
       "github.com/THUDM/slime slime/utils/dp_schedule.py, github.com/NVIDIA/Megatron-LM "
       "megatron/core/num_microbatches_calculator.py",
       slime_divides_batches},
      {"slime", "virtual stages divide the layers of a stage",
       "github.com/NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py", slime_divides_stages},
      {"slime", "sequences of a mixture are split over tensor parallelism",
       "github.com/NVIDIA/Megatron-LM megatron/core/transformer/moe/moe_layer.py",
       [](const ReadScript& script) -> Answer {
         return megatron_splits_sequences(script, "", "tensor-model-parallel-size", "sequence-parallel");
       }},
      {"slime", "Megatron's training is imported from a checkout, because only its core is a package",
       "github.com/THUDM/slime scripts/run-qwen3-4B.sh, github.com/NVIDIA/Megatron-LM pyproject.toml",
       [](const ReadScript& script) -> Answer { return script.says("\"PYTHONPATH\": \"'\"$MEGATRON\"'\""); }},
      {"slime", "engines on GPUs of their own do not leave them", "github.com/THUDM/slime slime/ray/rollout.py",
       [](const ReadScript& script) -> Answer {
         return script.is_on("colocate") ? kOther : Answer(!script.is_on("offload-rollout"));
       }},
      {"miles", "generation that never stops has GPUs of its own and no partial rollouts",
       "github.com/radixark/miles miles/utils/arguments.py, _resolve_rollout_functions",
       [](const ReadScript& script) -> Answer {
         if (!script.is_on("fully-async")) return kOther;
         return script.says("train_async.py") && !script.is_on("colocate") &&
                !script.is_on("partial-rollout") && !script.has("rollout-function-path");
       }},
      {"miles", "the pass of log-probabilities is skipped for one optimizer step alone",
       "github.com/radixark/miles miles/utils/arguments.py, validate_skip_actor_forward_only",
       [](const ReadScript& script) -> Answer {
         if (!script.is_on("skip-actor-forward-only")) return kOther;
         return script.number("num-steps-per-rollout") == 1 &&
                script.settings.number("attention-dropout", 0.1) == 0 &&
                script.settings.number("hidden-dropout", 0.1) == 0;
       }},
      {"miles", "a critic beside engines that are ahead has a correction",
       "github.com/radixark/miles miles/utils/arguments.py, validate_async_off_policy_correction",
       [](const ReadScript& script) -> Answer {
         if (script.word("advantage-estimator") != "ppo" || !script.says("train_async.py")) return kOther;
         return script.is_on("use-tis") || script.is_on("use-rollout-logprobs");
       }},
      {"miles", "an engine has no stages",
       "github.com/radixark/miles miles/backends/sglang_utils/sglang_engine.py",
       [](const ReadScript& script) -> Answer { return script.number("sglang-pp-size") == 1; }},
      {"verl", "sequences of a mixture are split over tensor parallelism",
       "github.com/NVIDIA/Megatron-LM megatron/core/transformer/moe/moe_layer.py",
       [](const ReadScript& script) -> Answer {
         if (!is_megatron_script(script)) return kOther;
         return megatron_splits_sequences(script, "actor_rollout_ref.actor.megatron.",
                                          "tensor_model_parallel_size", "sequence_parallel");
       }},
      {"nemo-rl", "sequences of a mixture are split over tensor parallelism",
       "github.com/NVIDIA/Megatron-LM megatron/core/transformer/moe/moe_layer.py",
       [](const ReadScript& script) -> Answer {
         if (!script.is_on("policy.megatron_cfg.enabled")) return kOther;
         return megatron_splits_sequences(script, "policy.megatron_cfg.", "tensor_model_parallel_size",
                                          "sequence_parallel");
       }},
      {"nemo-rl", "passes have the trainer's batches from a tensor-parallel degree of 4 on",
       "github.com/NVIDIA-NeMo/RL nemo_rl/models/policy/lm_policy.py",
       [](const ReadScript& script) -> Answer {
         if (nemo_tensor_parallel(script) < 4) return kOther;
         return script.number("policy.train_micro_batch_size") == script.number("policy.logprob_batch_size");
       }},
      {"nemo-rl", "an engine with stages is asynchronous, and then has no replicas inside",
       "github.com/NVIDIA-NeMo/RL nemo_rl/models/generation/vllm/vllm_generation.py",
       [](const ReadScript& script) -> Answer {
         const std::string root = "policy.generation.vllm_cfg.";
         const int experts = script.number(root + "expert_parallel_size"),
                   tensor = script.number(root + "tensor_parallel_size");
         const bool is_async = script.is_on(root + "async_engine");
         if (script.number(root + "pipeline_parallel_size") > 1 && !is_async) return false;
         return experts == 1 || (experts % tensor == 0 && (experts == tensor || !is_async));
       }},
      {"nemo-rl", "the engine's GPUs are whole nodes, or a part of the only one",
       "github.com/NVIDIA-NeMo/RL nemo_rl/algorithms/grpo.py", nemo_divides_nodes},
      {"nemo-rl", "an optimizer on the host is there as a whole",
       "github.com/NVIDIA-NeMo/RL nemo_rl/models/megatron/setup.py",
       [](const ReadScript& script) -> Answer {
         const std::string root = "policy.megatron_cfg.optimizer.";
         if (!script.is_on(root + "optimizer_cpu_offload")) return kOther;
         return script.settings.number(root + "optimizer_offload_fraction", 0) == 1;
       }},
      {"nemo-rl", "a micro-batch holds the longest sequence", "github.com/NVIDIA-NeMo/RL nemo_rl/data/packing",
       [](const ReadScript& script) -> Answer {
         if (!script.is_on("policy.sequence_packing.enabled")) return kOther;
         return holds_longest(script, "policy.sequence_packing.train_mb_tokens", 1) &&
                holds_longest(script, "policy.sequence_packing.logprob_mb_tokens", 1);
       }},
      {"openrlhf", "responses are compared only if there are several",
       "github.com/OpenRLHF/OpenRLHF openrlhf/cli/train_ppo_ray.py",
       [](const ReadScript& script) -> Answer {
         if (script.word("algo.advantage.estimator") != "group_norm") return kOther;
         return script.number("rollout.n_samples_per_prompt") > 1;
       }},
      {"openrlhf", "engines that share all GPUs fill them, and sleep only then",
       "github.com/OpenRLHF/OpenRLHF openrlhf/cli/train_ppo_ray.py",
       [](const ReadScript& script) -> Answer {
         const bool is_async = script.is_on("train.async_enable"), is_one = script.is_on("train.colocate_all");
         if (script.is_on("vllm.enable_sleep") && (is_async || !is_one)) return false;
         if (is_async || !is_one) return kOther;
         return script.number("actor.num_nodes") * script.number("actor.num_gpus_per_node") ==
                script.number("vllm.num_engines") * script.number("vllm.tensor_parallel_size");
       }},
      {"openrlhf", "every process gets a batch of samples",
       "github.com/OpenRLHF/OpenRLHF openrlhf/cli/train_ppo_ray.py",
       [](const ReadScript& script) -> Answer {
         return script.number("rollout.n_samples_per_prompt") * script.number("rollout.batch_size") /
                    script.number("rollout.micro_batch_size") >=
                script.number("actor.num_nodes") * script.number("actor.num_gpus_per_node") /
                    script.number("ds.ring_attn_size") / script.number("ds.tensor_parallel_size");
       }},
      {"areal", "offloading is switched on, and weights pass over disk between models that share GPUs",
       "github.com/inclusionAI/AReaL areal/trainer/rl_trainer.py", areal_switches_offloading_on},
      {"areal", "a micro-batch holds the longest sequence",
       "github.com/inclusionAI/AReaL areal/utils/seqpack.py",
       [](const ReadScript& script) -> Answer {
         return holds_longest(script, "actor.mb_spec.max_tokens_per_mb", 1) &&
                holds_longest(script, "ref.mb_spec.max_tokens_per_mb", 1);
       }},
      {"skyrl", "every rank has whole micro-batches of an optimizer step",
       "github.com/NovaSky-AI/SkyRL skyrl/train/utils/utils.py, validate_batch_sizes",
       [](const ReadScript& script) -> Answer {
         const int gpus = script.number("trainer.placement.policy_num_nodes") *
                          script.number("trainer.placement.policy_num_gpus_per_node"),
                   ranks = gpus / ranks_of_a_replica(script),
                   sequences = script.number("trainer.policy_mini_batch_size") *
                               script.number("generator.n_samples_per_prompt");
         return sequences % (ranks * script.number("trainer.micro_train_batch_size_per_gpu")) == 0;
       }},
      {"skyrl", "optimizer steps divide the prompts of a batch",
       "github.com/NovaSky-AI/SkyRL skyrl/train/utils/utils.py, validate_batch_sizes",
       [](const ReadScript& script) -> Answer {
         return script.number("trainer.train_batch_size") % script.number("trainer.policy_mini_batch_size") ==
                0;
       }},
      {"skyrl", "engines that share all GPUs fill them",
       "github.com/NovaSky-AI/SkyRL skyrl/train/utils/utils.py",
       [](const ReadScript& script) -> Answer {
         if (!script.is_on("trainer.placement.colocate_all")) return kOther;
         const std::string engine = "generator.inference_engine.";
         return script.number("trainer.placement.policy_num_nodes") *
                    script.number("trainer.placement.policy_num_gpus_per_node") ==
                script.number(engine + "num_engines") * script.number(engine + "data_parallel_size") *
                    script.number(engine + "tensor_parallel_size");
       }},
      {"skyrl", "an engine's experts are on all its GPUs",
       "github.com/NovaSky-AI/SkyRL skyrl/train/utils/utils.py",
       [](const ReadScript& script) -> Answer {
         const std::string engine = "generator.inference_engine.";
         if (!script.has(engine + "expert_parallel_size")) return kOther;
         return script.number(engine + "expert_parallel_size") ==
                script.number(engine + "data_parallel_size") * script.number(engine + "tensor_parallel_size");
       }},
      {"skyrl", "Megatron has no critic and splits sequences itself",
       "github.com/NovaSky-AI/SkyRL skyrl/train/utils/utils.py, validate_megatron_cfg",
       [](const ReadScript& script) -> Answer {
         if (!script.has("trainer.policy.megatron_config.tensor_model_parallel_size")) return kOther;
         return !script.has("trainer.critic.model.path") &&
                !script.has("trainer.policy.sequence_parallel_size") &&
                (script.number("trainer.policy.megatron_config.context_parallel_size") == 1 ||
                 script.is_on("trainer.remove_microbatch_padding"));
       }},
      {"skyrl", "fully asynchronous training takes one optimizer step for a batch",
       "github.com/NovaSky-AI/SkyRL skyrl/train/fully_async_trainer.py",
       [](const ReadScript& script) -> Answer {
         if (!script.has("trainer.fully_async.enabled")) return kOther;
         return script.number("trainer.train_batch_size") == script.number("trainer.policy_mini_batch_size");
       }},
      {"trl", "a generation is a whole number of groups of several responses",
       "github.com/huggingface/trl trl/trainer/grpo_config.py",
       [](const ReadScript& script) -> Answer {
         const int responses = script.number("num_generations");
         return responses > 1 && script.number("generation_batch_size") % responses == 0;
       }},
      {"trl", "a generation has whole micro-batches of all processes",
       "github.com/huggingface/trl trl/trainer/grpo_config.py",
       [](const ReadScript& script) -> Answer {
         return script.number("generation_batch_size") %
                    (script.number("per_device_train_batch_size") * script.number("num_processes")) ==
                0;
       }},
      {"trl", "sharded weights are gathered before they are saved",
       "github.com/huggingface/trl examples/accelerate_configs/deepspeed_zero3.yaml",
       [](const ReadScript& script) -> Answer {
         if (script.number("zero_stage") != 3) return kOther;
         return script.settings.flag("zero3_save_16bit_model", false);
       }},
      {"trl", "several machines are started one by one",
       "github.com/huggingface/accelerate src/accelerate/utils/launch.py",
       [](const ReadScript& script) -> Answer {
         if (script.number("num_machines") == 1) return kOther;
         return script.word("deepspeed_multinode_launcher") == "standard" && script.has("machine_rank") &&
                script.has("main_process_ip");
       }},
      {"roll", "the extended file has the engine's program",
       "github.com/alibaba/ROLL roll/third_party/vllm/__init__.py",
       [](const ReadScript& script) -> Answer {
         return script.word("actor_infer.strategy_args.strategy_name") == "vllm" &&
                script.says("[\"rlvr_config_amd_async\",\"_self_\"]");
       }},
      {"roll", "rewards read responses with the tokenizer of a model that is there",
       "github.com/alibaba/ROLL roll/pipeline/rlvr/rewards/math_rule_reward_worker.py",
       [](const ReadScript& script) -> Answer {
         return script.word("reward_pretrain").starts_with("${oc.env:");
       }},
      {"roll", "replicas divide the GPUs", "github.com/alibaba/ROLL roll/utils/config_utils.py",
       roll_divides_gpus},
      {"roll", "virtual stages are stated only where there are some, because packing compares them",
       "github.com/alibaba/ROLL roll/utils/sequence_packing.py",
       [](const ReadScript& script) -> Answer {
         const std::string key = kRollTrainConfig + "virtual_pipeline_model_parallel_size";
         return !script.has(key) || script.number(key) > 1;
       }},
      {"roll", "packing makes micro-batches for all stages",
       "github.com/alibaba/ROLL roll/utils/sequence_packing.py, github.com/NVIDIA/Megatron-LM "
       "megatron/core/pipeline_parallel/schedules.py",
       [](const ReadScript& script) -> Answer {
         if (script.word(kRollTrain + "sequence_packing_args.algorithm") != "load_balance") return kOther;
         const int chunks = script.number(kRollTrainConfig + "virtual_pipeline_model_parallel_size");
         return chunks == 1 || chunks % script.number(kRollTrainConfig + "pipeline_model_parallel_size") == 0;
       }},
      {"roll", "tokens of a mixture pass between devices that have unequal numbers of them",
       "github.com/alibaba/ROLL mcore_adapter/src/mcore_adapter/training_args.py",
       [](const ReadScript& script) -> Answer {
         if (!script.has_experts()) return kOther;
         return script.word(kRollTrainConfig + "moe_token_dispatcher_type") == "alltoall";
       }},
      {"roll", "sequences of a mixture are split over tensor parallelism",
       "github.com/NVIDIA/Megatron-LM megatron/core/transformer/moe/moe_layer.py",
       [](const ReadScript& script) -> Answer {
         return megatron_splits_sequences(script, kRollTrainConfig, "tensor_model_parallel_size",
                                          "sequence_parallel");
       }},
      {"roll", "the reference lists GPUs even where it does not run, because those of the extended file count",
       "github.com/alibaba/ROLL roll/configs/base_config.py",
       [](const ReadScript& script) -> Answer { return script.has("reference.device_mapping"); }},
      {"roll", "no critic trains with Megatron", "github.com/alibaba/ROLL roll/models/model_providers.py",
       [](const ReadScript& script) -> Answer {
         return script.word("adv_estimator") == "grpo" && !script.has("critic.device_mapping");
       }},
      {"roll", "replicas divide the prompts", "github.com/alibaba/ROLL roll/utils/config_utils.py",
       [](const ReadScript& script) -> Answer {
         return script.number("rollout_batch_size") % roll_replicas(script) == 0;
       }},
      {"roll", "a replica's sequences are whole optimizer steps",
       "github.com/alibaba/ROLL roll/distributed/scheduler/protocol.py", roll_divides_steps},
      {"roll", "padded lengths are divided by tensor and context parallelism, and fit into the budget",
       "github.com/alibaba/ROLL roll/utils/dynamic_batching.py", roll_pads_batches},
      {"roll", "tensor and context parallelism divide the length of sequences",
       "github.com/NVIDIA/Megatron-LM megatron/core/tensor_parallel/mappings.py and megatron/core/utils.py",
       roll_divides_length},
      {"roll", "an engine decodes no more sequences than a step has tokens",
       "github.com/vllm-project/vllm vllm/config/scheduler.py",
       [](const ReadScript& script) -> Answer {
         const std::string root = "actor_infer.strategy_args.strategy_config.";
         return script.number(root + "max_num_seqs") <= script.number(root + "max_num_batched_tokens");
       }},
      {"roll", "a micro-batch holds the longest sequence",
       "github.com/alibaba/ROLL roll/utils/sequence_packing.py",
       [](const ReadScript& script) -> Answer {
         const std::string root = "actor_train.sequence_packing_args.max_packed_sequence_length_";
         return holds_longest(script, root + "train", 1) && holds_longest(script, root + "forward", 1);
       }},
  };
  return all;
}

// miles, a fork of slime, has slime's rules too.
bool has_rules_of(const std::string& family, const Rule& rule) {
  return rule.family == family || (family == "miles" && rule.family == std::string("slime"));
}

// Numbers that degrees of parallelism do not divide, in some workflows.
void take_odd_numbers(Workflow& workflow, std::mt19937& random) {
  if (random() % 3 == 0) workflow.prompts = 104;
  if (random() % 3 == 0) workflow.response_tokens = fixed_length(3003);
}

class EveryRule : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Dialect& dialect_ = dialect_table()[GetParam()];
  const FrameworkProfile& profile_ = shipped_profile(std::string(dialect_.profile));
  std::map<std::string, int> followed_;  // scripts that a rule is about

  // Checks the rules on the script of a plan, if the plan is valid.
  void check(const Plan& plan, const TrainerProblem& problem) {
    try {
      check_plan(plan, problem.workflow, problem.cluster);
    } catch (const Error&) {
      return;
    }
    const ExportedPlan exported = export_plan(plan, problem, dialect_);
    if (!exported.refusal.empty()) return;
    const ReadScript script{read_settings(exported.text, dialect_), exported.text, problem.workflow};
    for (const Rule& rule : rules()) {
      if (!has_rules_of(profile_.family, rule)) continue;
      const Answer answer = rule.holds(script);
      if (answer) ++followed_[rule.says];
      ASSERT_TRUE(answer.value_or(true)) << rule.says << " (" << rule.source << ")\n" << exported.text;
    }
  }
};

TEST_P(EveryRule, IsFollowedByEveryScript) {
  constexpr unsigned kSeeds = 300;
  for (unsigned seed = 0; seed < kSeeds && !HasFatalFailure(); ++seed) {
    std::mt19937 random(seed);
    const Cluster cluster = gpu_cluster(1 << random() % 3);
    Workflow workflow = random_workflow(profile_, random);
    take_odd_numbers(workflow, random);
    const TrainerProblem problem{workflow, cluster, profile_};
    check(random() % 2 == 0 ? random_sayable_plan(problem, random) : random_odd_plan(problem, random), problem);
  }
  EXPECT_GE(followed_.size(), 2U);
}

// The random plans are about every rule of a family, with one of its profiles or another.
TEST(Rules, AreAboutSomeScript) {
  std::map<std::string, int> about;
  for (const Dialect& dialect : dialect_table()) {
    const FrameworkProfile& profile = shipped_profile(std::string(dialect.profile));
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937 random(seed);
      const Cluster cluster = gpu_cluster(1 << random() % 3);
      const Workflow workflow = random_workflow(profile, random);
      const TrainerProblem problem{workflow, cluster, profile};
      const ExportedPlan exported = export_plan(random_sayable_plan(problem, random), problem, dialect);
      if (!exported.refusal.empty()) continue;
      const ReadScript script{read_settings(exported.text, dialect), exported.text, workflow};
      for (const Rule& rule : rules()) {
        if (rule.family == profile.family && rule.holds(script)) ++about[rule.says];
      }
    }
  }
  for (const Rule& rule : rules()) EXPECT_GT(about[rule.says], 0) << rule.family << ": " << rule.says;
}

INSTANTIATE_TEST_SUITE_P(Trainers, EveryRule, ::testing::Range(std::size_t{0}, dialect_table().size()),
                         [](const auto& tested) {
                           std::string name(dialect_table()[tested.param].profile);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Sequences whose mean fits into the budget and whose longest does not.
TEST(Rules, BudgetsAreRaisedToTheLongestSequence) {
  for (const char* name : {"verl-fsdp", "roll", "areal"}) {
    const FrameworkProfile& profile = shipped_profile(name);
    const Dialect& dialect = *find_dialect(name);
    const Cluster cluster = gpu_cluster(1);
    std::mt19937 random(1);
    Workflow workflow = random_workflow(profile, random);
    const bool is_apart = std::string(name) == "areal";  // it gives engine and actor GPUs of their own
    workflow.mode = is_apart ? Mode::asynchronous : Mode::synchronous;
    workflow.staleness = is_apart ? 1 : 0;
    std::erase_if(workflow.tasks, [](const Task& task) { return task.name == task_names::kRewardInference; });
    for (Task& task : workflow.tasks) std::erase(task.after, task_names::kRewardInference);
    const TrainerProblem problem{workflow, cluster, profile};
    Plan plan = random_sayable_plan(problem, random);
    TaskPlan& training = plan.tasks.at(task_names::kActorTraining);
    training.execution.packed = true;
    training.execution.micro_batch_tokens = 3000 / training.execution.context_parallel;
    const ExportedPlan exported = export_plan(plan, problem, dialect);
    ASSERT_EQ(exported.refusal, "") << name;
    EXPECT_THAT(exported.unsaid,
                ::testing::Contains(::testing::HasSubstr("the longest sequence, which is 4000 tokens")))
        << name;
    const Execution& execution = exported.plan.tasks.at(task_names::kActorTraining).execution;
    EXPECT_GE(execution.micro_batch_tokens * execution.context_parallel, 4000) << name;
  }
}

// A synchronous problem of GRPO with this profile, and a plan whose tasks have these GPUs.
struct PlainProblem {
  Cluster cluster = gpu_cluster(3);
  const FrameworkProfile& profile;
  Workflow workflow;
  Plan plan;

  PlainProblem(const char* name, bool has_experts) : profile(shipped_profile(name)) {
    const auto fits = [&] {
      return workflow.mode == Mode::synchronous && !workflow.tasks.empty() &&
             workflow.models.at("actor").experts.has_value() == has_experts &&
             !workflow.has_task(task_names::kRewardInference) &&
             !workflow.has_task(task_names::kCriticTraining);
    };
    std::mt19937 random(1);
    while (!fits()) workflow = random_workflow(profile, random);
    for (const Task& task : workflow.tasks) {
      plan.tasks[task.name] = default_options(profile, task.kind);
      plan.tasks[task.name].execution.context_parallel = 1;
      if (task.kind == TaskKind::generation) plan.tasks[task.name].execution.kv_cache_bytes = 20e9;
      place(task.name, 0, 8, 1);
    }
  }

  void place(const std::string& task, int first, int count, int width) {
    std::vector<DeviceId> devices;
    for (int i = first; i < first + count; ++i) devices.push_back(DeviceId{i});
    plan.tasks.at(task).replicas = replicas_on(devices, {32}, width, false);
  }
  // Generation on GPUs of its own.
  void place_apart(int trainers, int first, int count, int width) {
    for (const auto& [name, task] : plan.tasks) place(name, 0, trainers, 1);
    place(task_names::kActorGeneration, first, count, width);
    plan.tasks.at(task_names::kActorGeneration).execution.offload_weights = false;
  }
  [[nodiscard]] ExportedPlan exported() const {
    return export_plan(plan, {workflow, cluster, profile}, *find_dialect(profile.name));
  }
};

// slime splits an engine over nodes by a number that is that of the engine's pool, not of the trainer's
// (slime/ray/rollout.py, ServerGroup).
TEST(Rules, SlimeCountsTheNodesOfItsEngines) {
  PlainProblem problem("slime", false);
  problem.place_apart(4, 8, 16, 8);  // the trainer has half a node
  const ExportedPlan whole = problem.exported();
  ASSERT_EQ(whole.refusal, "");
  EXPECT_THAT(whole.text, ::testing::Not(::testing::HasSubstr("--num-gpus-per-node")));
  problem.place_apart(8, 8, 4, 2);  // the engines have half a node
  EXPECT_THAT(problem.exported().text, ::testing::HasSubstr("--num-gpus-per-node 4\n"));
  problem.place_apart(8, 8, 12, 6);  // an engine of 6 and parts of nodes of 4
  EXPECT_THAT(problem.exported().refusal,
              ::testing::HasSubstr("slime's engines have GPUs of one node or whole nodes"));
}

// vLLM refuses offline data parallelism of dense models (vllm/config/parallel.py), with which TRL serves replicas.
TEST(Rules, TrlServesOneReplicaOfADenseModel) {
  PlainProblem dense("trl", false);
  dense.place_apart(8, 8, 8, 2);
  EXPECT_THAT(dense.exported().refusal, ::testing::HasSubstr("several replicas of a model without experts"));
  dense.place_apart(8, 8, 8, 8);
  EXPECT_EQ(dense.exported().refusal, "");
  PlainProblem mixture("trl", true);
  mixture.place_apart(8, 8, 8, 2);
  EXPECT_THAT(mixture.exported().text, ::testing::HasSubstr("--data_parallel_size 4"));
}

// vLLM has at least a token of a step for every sequence (vllm/config/scheduler.py), and TRL gives a step 4096.
TEST(Rules, TrlRefusesEnginesWithTooManySequences) {
  PlainProblem problem("trl", false);
  problem.place(task_names::kActorGeneration, 0, 8, 8);
  problem.workflow.prompts = 512;
  EXPECT_EQ(problem.exported().refusal, "");
  problem.workflow.prompts = 1024;
  EXPECT_THAT(problem.exported().refusal, ::testing::HasSubstr("the workflow has 8192 a replica"));
}

TEST(Rules, BatchesThatDoNotDivideAreRefused) {
  for (const char* name : {"slime", "roll", "trl"}) {
    PlainProblem problem(name, false);
    problem.workflow.mini_batches = 1;
    EXPECT_EQ(problem.exported().refusal, "") << name;
    problem.workflow.prompts = 129;
    problem.workflow.responses_per_prompt = 3;
    EXPECT_THAT(problem.exported().refusal, ::testing::HasSubstr(" refuses parts that are not whole: "))
        << name;
    EXPECT_THAT(problem.exported().refusal, ::testing::HasSubstr("over 8 replicas of actor_training")) << name;
  }
  PlainProblem roll("roll", false);  // whole numbers of sequences, but not of prompts
  roll.workflow.prompts = 100;
  EXPECT_THAT(roll.exported().refusal, ::testing::HasSubstr("100 prompts over 8 replicas of actor_training"));
}

// vLLM has at least a token of a step for every sequence (vllm/config/scheduler.py).
TEST(Rules, RollDecodesNoMoreSequencesThanAStepHasTokens) {
  PlainProblem problem("roll", false);
  TaskPlan& engine = problem.plan.tasks.at(task_names::kActorGeneration);
  engine.execution.prefill_chunk_tokens = 512;
  engine.decode_batch_sequences = 1000;
  EXPECT_THAT(problem.exported().text, ::testing::HasSubstr("max_num_seqs: 512\n"));
}

TEST(Rules, RollUsesEqualNodes) {
  PlainProblem problem("roll", false);
  std::vector<Node> nodes(problem.cluster.nodes().begin(), problem.cluster.nodes().end());
  nodes.back().devices = 4;
  problem.cluster = Cluster("unequal", problem.cluster.device_types(), nodes, problem.cluster.levels());
  EXPECT_EQ(problem.exported().refusal, "");
  for (const auto& [task, plan] : problem.plan.tasks) problem.place(task, 12, 8, 1);
  EXPECT_THAT(problem.exported().refusal,
              ::testing::HasSubstr("the plan has nodes with 4 and the cluster others with 8"));
}

}  // namespace
}  // namespace sextant::test
