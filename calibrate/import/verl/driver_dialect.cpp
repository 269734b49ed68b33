// Names are those of slime v0.3.1 (slime/observability), NeMo RL 0.7.0 (nemo_rl/algorithms/grpo.py), OpenRLHF 0.11.0
// (openrlhf/trainer/ppo_trainer.py), ROLL 0.3.0 (roll/pipeline/rlvr/rlvr_pipeline.py), AReaL v2.0.0
// (areal/trainer/rl_trainer.py, areal/engine/ppo/actor.py), TRL v1.9.0 (trl/trainer/grpo_trainer.py), SkyRL
// (skyrl/train/trainer.py, skyrl/train/generators/utils.py) and prime-rl v0.8.0 (src/prime_rl/trainer/rl/train.py,
// src/prime_rl/orchestrator/metrics.py), where lengths have other names until v0.5.0.
#include "calibrate/import/verl/driver_dialect.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sextant/run.h"
#include "sextant/workflow.h"

namespace sextant::inline calibrate {
namespace {

const std::string kJoint = std::string(task_names::kOldLogProb) + "+" + task_names::kReferenceInference;

constexpr std::array kSlimeMetrics{RenamedKey{"perf/rollout_time", "timing_s/gen"},
                                   RenamedKey{"perf/log_probs_time", "timing_s/old_log_prob"},
                                   RenamedKey{"perf/ref_log_probs_time", "timing_s/ref"},
                                   RenamedKey{"perf/actor_train_time", "timing_s/update_actor"},
                                   RenamedKey{"perf/update_weights_time", "timing_s/update_weights"},
                                   RenamedKey{"rollout/response_len/mean", "response_length/mean"},
                                   RenamedKey{"rollout/response_len/max", "response_length/max"}};
constexpr std::array kNemoMetrics{
    RenamedKey{"generation", "timing_s/gen"},
    RenamedKey{"timing/train/generation", "timing_s/gen"},
    RenamedKey{"policy_training", "timing_s/update_actor"},
    RenamedKey{"timing/train/policy_training", "timing_s/update_actor"},
    RenamedKey{"policy_and_reference_logprobs", "timing_s/old_log_prob"},
    RenamedKey{"timing/train/policy_and_reference_logprobs", "timing_s/old_log_prob"},
    RenamedKey{"weight_sync", "timing_s/update_weights"},
    RenamedKey{"timing/train/weight_sync", "timing_s/update_weights"},
    RenamedKey{"Mean Generation Length", "response_length/mean"},
    RenamedKey{"train/mean_gen_tokens_per_sample", "response_length/mean"}};
constexpr std::array kRayMetrics{RenamedKey{"timing/generation", "timing_s/gen"},
                                 RenamedKey{"timing/make_experience", "timing_s/old_log_prob"},
                                 RenamedKey{"timing/ppo_train", "timing_s/update_actor"},
                                 RenamedKey{"timing/broadcast", "timing_s/update_weights"},
                                 RenamedKey{"rollout/response_length_mean", "response_length/mean"},
                                 RenamedKey{"response_length", "response_length/mean"}};
constexpr std::array kRollMetrics{RenamedKey{"time/step_generate", "timing_s/gen"},
                                  RenamedKey{"time/old_log_probs", "timing_s/old_log_prob"},
                                  RenamedKey{"time/ref_log_probs_values", "timing_s/ref"},
                                  RenamedKey{"time/step_train", "timing_s/update_actor"},
                                  RenamedKey{"time/step_model_update", "timing_s/update_weights"},
                                  RenamedKey{"tokens/response_length/mean", "response_length/mean"},
                                  RenamedKey{"tokens/response_length/max", "response_length/max"}};

constexpr std::array kArealMetrics{RenamedKey{"timeperf/rollout", "timing_s/gen"},
                                   RenamedKey{"timeperf/recompute_logp", "timing_s/old_log_prob"},
                                   RenamedKey{"timeperf/ref_logp", "timing_s/ref"},
                                   RenamedKey{"timeperf/critic_values", "timing_s/values"},
                                   RenamedKey{"timeperf/train_step", "timing_s/update_actor"},
                                   RenamedKey{"timeperf/critic_train_step", "timing_s/update_critic"},
                                   RenamedKey{"timeperf/update_weights", "timing_s/update_weights"},
                                   RenamedKey{"ppo_actor/prompt_len/avg", "prompt_length/mean"}};
constexpr std::array kPrimeMetrics{RenamedKey{"time/wait_for_batch", "timing_s/gen"},
                                   RenamedKey{"time/forward_backward", "timing_s/update_actor"},
                                   RenamedKey{"time/broadcast_weights", "timing_s/update_weights"},
                                   RenamedKey{"train/agg/all/num_output_tokens/mean", "response_length/mean"},
                                   RenamedKey{"train/agg/all/num_output_tokens/max", "response_length/max"},
                                   RenamedKey{"train/agg/all/num_input_tokens/mean", "prompt_length/mean"},
                                   RenamedKey{"decode_len/all/mean", "response_length/mean"},
                                   RenamedKey{"decode_len/all/max", "response_length/max"},
                                   RenamedKey{"prefill_len/all/mean", "prompt_length/mean"}};
constexpr std::array kTrlMetrics{RenamedKey{"step_time", "timing_s/step"},
                                 RenamedKey{"completions/mean_length", "response_length/mean"},
                                 RenamedKey{"completions/max_length", "response_length/max"}};
constexpr std::array kSkyMetrics{RenamedKey{"timing/generate", "timing_s/gen"},
                                 RenamedKey{"timing/fwd_logprobs_values_reward", "timing_s/old_log_prob"},
                                 RenamedKey{"timing/policy_train", "timing_s/update_actor"},
                                 RenamedKey{"timing/sync_weights", "timing_s/update_weights"},
                                 RenamedKey{"generate/avg_num_tokens", "response_length/mean"},
                                 RenamedKey{"generate/max_num_tokens", "response_length/max"}};

constexpr const char* kSampleTokens = "seq_len/all/mean";

constexpr const char* kBatch = "data.train_batch_size";
constexpr const char* kResponses = "actor_rollout_ref.rollout.n";
constexpr const char* kMiniBatch = "actor_rollout_ref.actor.ppo_mini_batch_size";
constexpr const char* kMaxResponse = "data.max_response_length";
constexpr const char* kModelPath = "actor_rollout_ref.model.path";
constexpr const char* kEngineWidth = "actor_rollout_ref.rollout.tensor_model_parallel_size";
constexpr const char* kEngineShare = "actor_rollout_ref.rollout.gpu_memory_utilization";
constexpr const char* kTokens = "actor_rollout_ref.actor.ppo_max_token_len_per_gpu";
constexpr const char* kCountsTokens = "actor_rollout_ref.actor.use_dynamic_bsz";
constexpr const char* kSequences = "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu";
constexpr const char* kStrategy = "actor_rollout_ref.actor.strategy";
constexpr const char* kPacked = "actor_rollout_ref.model.use_remove_padding";
constexpr const char* kRecompute = "actor_rollout_ref.model.enable_gradient_checkpointing";
constexpr const char* kTensor = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size";
constexpr const char* kPipeline = "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size";
constexpr const char* kContext = "actor_rollout_ref.actor.megatron.context_parallel_size";
constexpr const char* kExperts = "actor_rollout_ref.actor.megatron.expert_model_parallel_size";
constexpr const char* kStepSequences = "sequences of a step";  // no option of verl's: derive() divides it

constexpr std::array kSlimeOptions{RenamedKey{"rollout-batch-size", kBatch},
                                   RenamedKey{"n-samples-per-prompt", kResponses},
                                   RenamedKey{"rollout-max-response-len", kMaxResponse},
                                   RenamedKey{"hf-checkpoint", kModelPath},
                                   RenamedKey{"rollout-num-gpus-per-engine", kEngineWidth},
                                   RenamedKey{"sglang-mem-fraction-static", kEngineShare},
                                   RenamedKey{"tensor-model-parallel-size", kTensor},
                                   RenamedKey{"pipeline-model-parallel-size", kPipeline},
                                   RenamedKey{"context-parallel-size", kContext},
                                   RenamedKey{"expert-model-parallel-size", kExperts},
                                   RenamedKey{"use-dynamic-batch-size", kCountsTokens},
                                   RenamedKey{"max-tokens-per-gpu", kTokens},
                                   RenamedKey{"micro-batch-size", kSequences},
                                   RenamedKey{"global-batch-size", kStepSequences}};
constexpr std::array kNemoOptions{RenamedKey{"grpo.num_prompts_per_step", kBatch},
                                  RenamedKey{"grpo.num_generations_per_prompt", kResponses},
                                  RenamedKey{"policy.generation.max_new_tokens", kMaxResponse},
                                  RenamedKey{"policy.model_name", kModelPath},
                                  RenamedKey{"policy.generation.vllm_cfg.tensor_parallel_size", kEngineWidth},
                                  RenamedKey{"policy.generation.vllm_cfg.gpu_memory_utilization", kEngineShare},
                                  RenamedKey{"policy.sequence_packing.enabled", kCountsTokens},
                                  RenamedKey{"policy.sequence_packing.train_mb_tokens", kTokens},
                                  RenamedKey{"policy.train_micro_batch_size", kSequences},
                                  RenamedKey{"policy.megatron_cfg.tensor_model_parallel_size", kTensor},
                                  RenamedKey{"policy.megatron_cfg.pipeline_model_parallel_size", kPipeline},
                                  RenamedKey{"policy.megatron_cfg.context_parallel_size", kContext},
                                  RenamedKey{"policy.megatron_cfg.expert_model_parallel_size", kExperts},
                                  RenamedKey{"policy.dtensor_cfg.activation_checkpointing", kRecompute},
                                  RenamedKey{"policy.train_global_batch_size", kStepSequences}};
constexpr std::array kRayOptions{RenamedKey{"rollout.batch_size", kBatch},
                                 RenamedKey{"rollout.n_samples_per_prompt", kResponses},
                                 RenamedKey{"rollout.max_new_tokens", kMaxResponse},
                                 RenamedKey{"actor.model_name_or_path", kModelPath},
                                 RenamedKey{"vllm.tensor_parallel_size", kEngineWidth},
                                 RenamedKey{"vllm.gpu_memory_utilization", kEngineShare},
                                 RenamedKey{"train.dynamic_batch_enable", kCountsTokens},
                                 RenamedKey{"train.max_tokens_per_gpu", kTokens},
                                 RenamedKey{"train.micro_batch_size", kSequences},
                                 RenamedKey{"ds.packing_samples", kPacked},
                                 RenamedKey{"actor.gradient_checkpointing_enable", kRecompute},
                                 RenamedKey{"train.batch_size", kStepSequences}};
constexpr std::array kRollOptions{
    RenamedKey{"rollout_batch_size", kBatch},
    RenamedKey{"num_return_sequences_in_group", kResponses},
    RenamedKey{"response_length", kMaxResponse},
    RenamedKey{"pretrain", kModelPath},
    RenamedKey{"actor_infer.strategy_args.strategy_config.tensor_parallel_size", kEngineWidth},
    RenamedKey{"actor_infer.strategy_args.strategy_config.gpu_memory_utilization", kEngineShare},
    RenamedKey{"actor_train.strategy_args.strategy_config.tensor_model_parallel_size", kTensor},
    RenamedKey{"actor_train.strategy_args.strategy_config.pipeline_model_parallel_size", kPipeline},
    RenamedKey{"actor_train.strategy_args.strategy_config.context_parallel_size", kContext},
    RenamedKey{"actor_train.strategy_args.strategy_config.expert_model_parallel_size", kExperts},
    RenamedKey{"actor_train.training_args.per_device_train_batch_size", kSequences}};

constexpr std::array kArealOptions{RenamedKey{"train_dataset.batch_size", kBatch},
                                   RenamedKey{"gconfig.n_samples", kResponses},
                                   RenamedKey{"gconfig.max_new_tokens", kMaxResponse},
                                   RenamedKey{"actor.path", kModelPath},
                                   RenamedKey{"sglang.mem_fraction_static", kEngineShare},
                                   RenamedKey{"actor.mb_spec.max_tokens_per_mb", kTokens},
                                   RenamedKey{"actor.gradient_checkpointing", kRecompute}};
constexpr std::array kPrimeOptions{
    RenamedKey{"orchestrator.group_size", kResponses},
    RenamedKey{"orchestrator.train.sampling.max_completion_tokens", kMaxResponse},
    RenamedKey{"trainer.model.name", kModelPath},
    RenamedKey{"inference.parallel.tp", kEngineWidth},
    RenamedKey{"inference.gpu_memory_utilization", kEngineShare},
    RenamedKey{"trainer.model.seq_len", kTokens}};
constexpr std::array kTrlOptions{RenamedKey{"num_generations", kResponses},
                                 RenamedKey{"max_completion_length", kMaxResponse},
                                 RenamedKey{"model_name_or_path", kModelPath},
                                 RenamedKey{"vllm_tensor_parallel_size", kEngineWidth},
                                 RenamedKey{"vllm_gpu_memory_utilization", kEngineShare},
                                 RenamedKey{"per_device_train_batch_size", kSequences},
                                 RenamedKey{"gradient_checkpointing", kRecompute}};
constexpr std::array kSkyOptions{RenamedKey{"trainer.train_batch_size", kBatch},
                                 RenamedKey{"generator.n_samples_per_prompt", kResponses},
                                 RenamedKey{"generator.sampling_params.max_generate_length", kMaxResponse},
                                 RenamedKey{"trainer.policy.model.path", kModelPath},
                                 RenamedKey{"generator.inference_engine_tensor_parallel_size", kEngineWidth},
                                 RenamedKey{"generator.gpu_memory_utilization", kEngineShare},
                                 RenamedKey{"trainer.policy_mini_batch_size", kMiniBatch},
                                 RenamedKey{"trainer.micro_train_batch_size_per_gpu", kSequences},
                                 RenamedKey{"trainer.use_sample_packing", kPacked},
                                 RenamedKey{"trainer.gradient_checkpointing", kRecompute}};

// A step's sequences are prompts of verl's mini-batch.
void derive_mini_batch(std::map<std::string, Json>& config) {
  const auto sequences = config.find(kStepSequences), responses = config.find(kResponses);
  const auto is_count = [&](const auto& found) {
    return found != config.end() && found->second.is_number_integer() && found->second > 0;
  };
  if (is_count(sequences) && is_count(responses))
    config.emplace(kMiniBatch,
                   std::max(1, sequences->second.template get<int>() / responses->second.template get<int>()));
}

void take_default(const char* option, const Json& value, std::map<std::string, Json>& config) {
  config.emplace(option, value);
}

void derive_slime(std::map<std::string, Json>& config) {
  derive_mini_batch(config);
  take_default(kStrategy, "megatron", config);
  take_default(kEngineWidth, 1, config);
}

void derive_nemo(std::map<std::string, Json>& config) {
  derive_mini_batch(config);
  const auto enabled = config.find("policy.megatron_cfg.enabled");
  const bool is_megatron = enabled != config.end() && enabled->second == Json(true);
  take_default(kStrategy, is_megatron ? "megatron" : "fsdp", config);
  take_default(kEngineWidth, 1, config);
  take_default(kPacked, true, config);
  const auto longest = config.find("policy.max_total_sequence_length");
  if (longest != config.end()) take_default(kMaxResponse, longest->second, config);
}

void derive_ray(std::map<std::string, Json>& config) {
  derive_mini_batch(config);
  take_default(kEngineWidth, 1, config);
}

void derive_roll(std::map<std::string, Json>& config) {
  take_default(kStrategy, "megatron", config);
  take_default(kEngineWidth, 1, config);
}

void derive_areal(std::map<std::string, Json>& config) {
  if (config.contains(kTokens)) take_default(kCountsTokens, true, config);
  take_default(kPacked, true, config);
}

void derive_nothing(std::map<std::string, Json>& config) { static_cast<void>(config); }

std::map<std::string, std::string> usual_timers() {
  return {{"gen", task_names::kActorGeneration},
          {"old_log_prob", task_names::kOldLogProb},
          {"ref", task_names::kReferenceInference},
          {"update_actor", task_names::kActorTraining},
          {"update_weights", kWeightSync}};
}

// One timer holds the passes of actor and reference.
std::map<std::string, std::string> joint_timers() {
  std::map<std::string, std::string> timers = usual_timers();
  timers["old_log_prob"] = kJoint;
  timers.erase("ref");
  return timers;
}

// There is neither a reference nor a second pass of the actor.
std::map<std::string, std::string> prime_timers() {
  std::map<std::string, std::string> timers = usual_timers();
  timers.erase("old_log_prob");
  timers.erase("ref");
  return timers;
}

std::map<std::string, std::string> areal_timers() {
  std::map<std::string, std::string> timers = usual_timers();
  timers["values"] = task_names::kCriticInference;
  timers["update_critic"] = task_names::kCriticTraining;
  return timers;
}

// AReaL has no time of the whole step: it is the sum of these, which follow one another. Models that share GPUs come and
// go; pauses of the engines and their resumption are in none of the others.
std::vector<std::string_view> areal_parts() {
  return {"timeperf/rollout",        "timeperf/critic_values",
          "timeperf/ref_logp",       "timeperf/teacher_logp",
          "timeperf/recompute_logp", "timeperf/compute_advantage",
          "timeperf/train_step",     "timeperf/critic_train_step",
          "timeperf/update_weights", "timeperf/clear_batches",
          "timeperf/rollout_onload", "timeperf/rollout_offload",
          "timeperf/actor_onload",   "timeperf/actor_offload",
          "timeperf/ref_onload",     "timeperf/ref_offload",
          "timeperf/critic_onload",  "timeperf/critic_offload",
          "timeperf/teacher_onload", "timeperf/teacher_offload",
          "timeperf/rollout_pause",  "timeperf/rollout_pause_generation",
          "timeperf/rollout_resume", "timeperf/rollout_continue_generation"};
}

}  // namespace

std::span<const DriverDialect> driver_dialects() {
  static const std::array kTable{
      DriverDialect{.name = "areal",
                    .metrics = kArealMetrics,
                    .timers = areal_timers(),
                    .step = areal_parts(),
                    .options = kArealOptions,
                    .derive = derive_areal},
      DriverDialect{.name = "nemo-rl",
                    .metrics = kNemoMetrics,
                    .timers = joint_timers(),
                    .step = {"Total step time", "timing/train/total_step_time"},
                    .options = kNemoOptions,
                    .derive = derive_nemo,
                    .beside = {"Total validation time", "timing/validation/total_validation_time",
                               "checkpointing", "timing/train/checkpointing"}},
      DriverDialect{.name = "openrlhf",
                    .metrics = kRayMetrics,
                    .timers = joint_timers(),
                    .step = {"timing/step_total"},
                    .options = kRayOptions,
                    .derive = derive_ray},
      DriverDialect{.name = "prime-rl",
                    .metrics = kPrimeMetrics,
                    .timers = prime_timers(),
                    .step = {"time/step"},
                    .options = kPrimeOptions,
                    .derive = derive_nothing,
                    .is_asynchronous = true,
                    .may_lack_phases = true,
                    .beside = {"time/save_ckpt"}},
      DriverDialect{.name = "roll",
                    .metrics = kRollMetrics,
                    .timers = usual_timers(),
                    .step = {"time/step_total"},
                    .step_is_of_the_one_before = true,
                    .options = kRollOptions,
                    .derive = derive_roll,
                    .beside = {"time/val_step"}},
      DriverDialect{.name = "skyrl",
                    .metrics = kSkyMetrics,
                    .timers = joint_timers(),
                    .step = {"timing/step"},
                    .options = kSkyOptions,
                    .derive = derive_nothing,
                    .beside = {"timing/eval", "timing/save_checkpoints", "timing/save_hf_model"}},
      // The trainer's wait goes from the end of a training to the beginning of the next (slime/backends/megatron_utils/
      // actor.py, train_wait): it holds sleep, weights, generation and checkpoints.
      DriverDialect{.name = "slime",
                    .metrics = kSlimeMetrics,
                    .timers = usual_timers(),
                    .step = {"perf/step_time"},
                    .options = kSlimeOptions,
                    .derive = derive_slime,
                    .beside = {"perf/save_model_time"},
                    .times_generation = true},
      DriverDialect{.name = "trl",
                    .metrics = kTrlMetrics,
                    .timers = {},
                    .step = {"step_time"},
                    .options = kTrlOptions,
                    .derive = derive_nothing}};
  return kTable;
}

namespace {

// The sum of the keys; several names of one key ("Total step time", "timing/train/...") count once.
std::optional<double> step_time(const DriverDialect& dialect, const Metrics& metrics) {
  double sum = 0;
  bool is_there = false;
  for (const std::string_view key : dialect.step) {
    const std::optional<double> value = metrics.get(key);
    if (!value) continue;
    sum += *value;
    is_there = is_there || key == dialect.step.front() || dialect.name == "nemo-rl";
  }
  return is_there ? std::optional(sum) : std::nullopt;
}

double beside_s(const DriverDialect& dialect, const Metrics& metrics) {
  double sum = 0;
  for (const std::string_view key : dialect.beside) sum += metrics.get(key).value_or(0);
  return sum;
}

}  // namespace

void translate_steps(const DriverDialect& dialect, VerlLog& log, std::optional<double> prompt_tokens) {
  for (std::size_t i = 0; i < log.steps.size(); ++i) {
    Metrics& metrics = log.steps[i].metrics;
    const std::size_t of = dialect.step_is_of_the_one_before ? i + 1 : i;
    const auto time = of < log.steps.size() ? step_time(dialect, log.steps[of].metrics) : std::nullopt;
    for (const auto& [own, name] : dialect.metrics) {
      for (const std::string_view prefix : {"", "train/"}) {  // what trackers put before it
        if (const auto value = metrics.get(std::string(prefix) + std::string(own))) metrics.add(name, *value);
      }
    }
    if (time) metrics.set("timing_s/step", *time - beside_s(dialect, metrics));
    if (prompt_tokens) metrics.add("prompt_length/mean", *prompt_tokens);
    const auto prompt = metrics.get("prompt_length/mean");
    for (const char* key : {"ppo_actor/seq_len/avg", kSampleTokens}) {
      const auto whole = metrics.get(key);
      if (whole && prompt) metrics.add("response_length/mean", *whole - *prompt);
    }
  }
}

void translate_options(const DriverDialect& dialect, std::map<std::string, Json>& config) {
  for (const auto& [own, name] : dialect.options) {
    const auto found = config.find(std::string(own));
    if (found != config.end()) config.emplace(name, found->second);
  }
  dialect.derive(config);
}

}  // namespace sextant::inline calibrate
