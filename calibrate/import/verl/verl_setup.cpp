#include "calibrate/import/verl/verl_setup.h"

#include <algorithm>
#include <cmath>

namespace sextant::inline calibrate {
namespace {

const std::string kActor = "actor_rollout_ref.actor.";
const std::string kModel = "actor_rollout_ref.model.";
const std::string kReference = "actor_rollout_ref.ref.";
const std::string kRollout = "actor_rollout_ref.rollout.";
const std::string kCritic = "critic.";

const std::string kSequencesOfStep = "sequences_per_step";  // no option: collections of numbers have it

// verl's defaults.
constexpr int kTokensOfMicroBatch = 16384;
constexpr int kSequencesOfEngine = 1024;
constexpr int kTokensOfEngineStep = 8192;
constexpr double kEngineMemory = 0.5;

// ---- degrees ----

std::string megatron_of(const std::string& owner) { return owner + "megatron."; }

Degrees trainer_degrees(const VerlConfig& config, const std::string& owner, int gpus) {
  Degrees degrees;
  if (is_megatron(config)) {
    const std::string megatron = megatron_of(owner);
    degrees.tensor_parallel = config.count(megatron + "tensor_model_parallel_size").value_or(1);
    degrees.pipeline_parallel = config.count(megatron + "pipeline_model_parallel_size").value_or(1);
    degrees.context_parallel = config.count(megatron + "context_parallel_size").value_or(1);
  } else {
    degrees.context_parallel = config.count(owner + "ulysses_sequence_parallel_size").value_or(1);
  }
  const double of_replica =
      1.0 * degrees.tensor_parallel * degrees.pipeline_parallel * degrees.context_parallel;
  degrees.data_parallel = std::max(1, static_cast<int>(gpus / of_replica));
  return degrees;
}

Degrees rollout_degrees(const VerlConfig& config, int gpus) {
  Degrees degrees;
  degrees.tensor_parallel = config.count(kRollout + "tensor_model_parallel_size").value_or(1);
  degrees.data_parallel = std::max(1, gpus / degrees.tensor_parallel);
  return degrees;
}

std::string contradiction(const MeasuredTask& task, int gpus) {
  const Degrees& degrees = task.degrees;
  const double product = 1.0 * degrees.data_parallel * degrees.tensor_parallel * degrees.pipeline_parallel *
                         degrees.context_parallel;
  if (product == gpus) return "";
  return "the degrees of " + task.name + " do not make up its " + std::to_string(gpus) + " GPUs";
}

// ---- micro-batches ----

struct MicroBatchOptions {
  std::string is_dynamic, tokens, per_gpu, of_all;
};

MicroBatchOptions training_options(const std::string& owner) {
  return {owner + "use_dynamic_bsz", owner + "ppo_max_token_len_per_gpu",
          owner + "ppo_micro_batch_size_per_gpu", owner + "ppo_micro_batch_size"};
}

MicroBatchOptions log_prob_options(const std::string& owner) {
  return {owner + "log_prob_use_dynamic_bsz", owner + "log_prob_max_token_len_per_gpu",
          owner + "log_prob_micro_batch_size_per_gpu", owner + "log_prob_micro_batch_size"};
}

MicroBatchOptions critic_options() {
  return {kCritic + "use_dynamic_bsz", kCritic + "forward_max_token_len_per_gpu",
          kCritic + "forward_micro_batch_size_per_gpu", kCritic + "forward_micro_batch_size"};
}

// Whether one of the options was there.
bool set_micro_batch(const VerlConfig& config, const MicroBatchOptions& options, MeasuredTask& task) {
  if (config.flag(options.is_dynamic).value_or(false)) {
    task.execution.micro_batch_tokens = config.count(options.tokens).value_or(kTokensOfMicroBatch);
    return true;
  }
  if (const auto sequences = config.count(options.per_gpu)) {
    task.micro_batch_sequences = *sequences;
    return true;
  }
  if (const auto sequences = config.count(options.of_all)) {
    task.micro_batch_sequences = std::max(1, *sequences / task.degrees.data_parallel);
    return true;
  }
  return false;
}

void set_micro_batch_of(const VerlConfig& config, MeasuredIteration& iteration, MeasuredTask& task) {
  const std::string trainer = role_of_task(task.name) == "critic" ? kCritic : kActor;
  bool is_stated = false;
  if (task.name == kOldLogProb) is_stated = set_micro_batch(config, log_prob_options(kRollout), task);
  if (task.name == task_names::kReferenceInference) {
    is_stated = set_micro_batch(config, log_prob_options(kReference), task) ||
                set_micro_batch(config, log_prob_options(kRollout), task);
  }
  if (task.name == task_names::kCriticInference) is_stated = set_micro_batch(config, critic_options(), task);
  if (is_stated || set_micro_batch(config, training_options(trainer), task)) return;
  add_note(iteration.notes, "left unsaid", "Sequences of a micro-batch of " + task.name + ": one.");
}

// ---- tasks ----

MeasuredTask generation_of(const VerlConfig& config, MeasuredIteration& iteration) {
  MeasuredTask task;
  task.name = task_names::kActorGeneration;
  task.degrees = rollout_degrees(config, iteration.gpus);
  task.decode_batch_sequences = config.count(kRollout + "max_num_seqs").value_or(kSequencesOfEngine);
  task.memory_fraction =
      std::clamp(config.number(kRollout + "gpu_memory_utilization").value_or(kEngineMemory), 0.0, 1.0);
  Execution& execution = task.execution;
  execution.packed = true;
  execution.continuous_batching = true;
  execution.fused_attention = true;
  execution.shared_prompts = iteration.responses_per_prompt > 1;
  execution.prefill_chunk_tokens =
      config.count(kRollout + "max_num_batched_tokens").value_or(kTokensOfEngineStep);
  execution.semantics = "verl";
  if (!config.flag(kRollout + "enforce_eager")) {
    add_note(iteration.notes, "left unsaid",
             "Whether the engine has CUDA graphs: none, verl's default up to 0.5.");
  }
  execution.cuda_graphs = !config.flag(kRollout + "enforce_eager").value_or(true);
  return task;
}

// Megatron in verl always takes the padding out.
bool is_packed(const VerlConfig& config) {
  return is_megatron(config) || config.flag(kModel + "use_remove_padding").value_or(false);
}

std::string weights_owner(const std::string& task) {
  if (role_of_task(task) == "critic") return kCritic + "model.";
  return task == task_names::kReferenceInference ? kReference : kActor;
}

bool offloads(const VerlConfig& config, const std::string& task) {
  const std::string owner = weights_owner(task) + (is_megatron(config) ? "megatron." : "fsdp_config.");
  return config.flag(owner + "param_offload").value_or(false) ||
         config.flag(owner + "optimizer_offload").value_or(false);
}

void set_experts(const VerlConfig& config, MeasuredTask& task) {
  if (!is_megatron(config)) return;
  const std::string megatron = megatron_of(kActor);
  task.execution.expert_parallel = config.count(megatron + "expert_model_parallel_size").value_or(1);
  task.execution.expert_tensor_parallel = config.count(megatron + "expert_tensor_parallel_size").value_or(0);
  if (task.execution.expert_parallel == 1) task.execution.expert_tensor_parallel = 0;
}

void set_recompute(const VerlConfig& config, MeasuredIteration& iteration, MeasuredTask& task) {
  const std::string option = "enable_gradient_checkpointing";
  std::optional<bool> is_on = config.flag(kModel + option);
  const bool is_actor = task.name == task_names::kActorTraining;
  if (const auto of_critic = config.flag(kCritic + "model." + option); !is_actor && of_critic)
    is_on = of_critic;
  task.recompute = is_on.value_or(false) ? Recompute::full : Recompute::none;
  if (is_on || !is_actor) return;
  constexpr double kDeviation = 0.5;
  iteration.unstated.push_back({UnstatedQuantity::recompute, iteration.framework, kDeviation});
  add_note(iteration.notes, "left unsaid", "Whether activations are computed again.");
}

MeasuredTask pass_of(const VerlConfig& config, const std::string& name, MeasuredIteration& iteration) {
  MeasuredTask task;
  task.name = name;
  const bool is_critic = role_of_task(name) == "critic";
  const bool is_training = name == task_names::kActorTraining || name == task_names::kCriticTraining;
  task.degrees = trainer_degrees(config, is_critic ? kCritic : kActor, iteration.gpus);
  Execution& execution = task.execution;
  execution.packed = is_packed(config);
  execution.fused_attention = true;
  execution.semantics = "verl";
  execution.sequence_parallel = task.degrees.tensor_parallel > 1;
  execution.offload_weights = offloads(config, name);
  if (!is_megatron(config)) execution.zero_stage = 3;
  if (is_megatron(config) && is_training) execution.zero_stage = 1;
  if (role_of_task(name) == "actor") execution.lora_rank = config.count(kModel + "lora_rank").value_or(0);
  set_experts(config, task);
  // reduce_dtype of verl's FSDP, grad_reduce_in_fp32 of its Megatron.
  if (is_training) execution.gradient_precision = Precision::fp32;
  if (is_training) set_recompute(config, iteration, task);
  set_micro_batch_of(config, iteration, task);
  return task;
}

std::vector<std::string> passes_of(const VerlTasks& tasks) {
  std::vector<std::string> names{kOldLogProb, task_names::kActorTraining};
  if (tasks.has_reference) names.emplace_back(task_names::kReferenceInference);
  if (tasks.has_critic) {
    names.emplace_back(task_names::kCriticInference);
    names.emplace_back(task_names::kCriticTraining);
  }
  return names;
}

void set_batch(const VerlConfig& config, MeasuredIteration& iteration) {
  iteration.responses_per_prompt = config.count(kRollout + "n").value_or(1);
  const int sequences = config.count(kSequencesOfStep).value_or(1);
  iteration.prompts =
      config.count("data.train_batch_size").value_or(std::max(1, sequences / iteration.responses_per_prompt));
  if (!config.has("data.train_batch_size") && !config.has(kRollout + "n"))
    add_note(iteration.notes, "left unsaid", "Responses of a prompt: one.");
  const int of_mini_batch = config.count(kActor + "ppo_mini_batch_size").value_or(iteration.prompts);
  const int epochs = config.count(kActor + "ppo_epochs").value_or(1);
  const double count = 1.0 * epochs * std::max(1, iteration.prompts / of_mini_batch);
  iteration.mini_batches = static_cast<int>(std::min(count, 1.0 * iteration.prompts));
}

}  // namespace

std::optional<double> VerlConfig::number(const std::string& option) const {
  const auto found = options_.find(option);
  if (found == options_.end() || !found->second.is_number()) return std::nullopt;
  const double value = found->second.get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<int> VerlConfig::count(const std::string& option) const {
  constexpr double kMaximum = 1e6;
  const std::optional<double> value = number(option);
  if (!value || *value < 1 || *value > kMaximum || std::floor(*value) != *value) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<bool> VerlConfig::flag(const std::string& option) const {
  const auto found = options_.find(option);
  return found != options_.end() && found->second.is_boolean() ? std::optional(found->second.get<bool>())
                                                               : std::nullopt;
}

std::string VerlConfig::text(const std::string& option) const {
  const auto found = options_.find(option);
  return found != options_.end() && found->second.is_string() ? found->second.get<std::string>() : "";
}

bool is_megatron(const VerlConfig& config) {
  const std::string strategy = config.text(kActor + "strategy");
  if (!strategy.empty()) return strategy == "megatron";
  return config.has(megatron_of(kActor) + "tensor_model_parallel_size");
}

std::string verl_model(const VerlConfig& config) {
  std::string path = config.text(kModel + "path");
  if (path.empty()) path = config.text("model");
  while (path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::vector<std::string> what_lacks(const VerlConfig& config, std::optional<int> gpus) {
  std::vector<std::string> lacking;
  const auto need = [&](bool is_there, const char* what) {
    if (!is_there) lacking.emplace_back(what);
  };
  need(!verl_model(config).empty(), "the model");
  need(config.count("data.train_batch_size") || config.count(kSequencesOfStep), "the batch");
  need(config.count("data.max_response_length").has_value(), "the limit of responses");
  need(config.count(kRollout + "tensor_model_parallel_size") || gpus == 1, "the engine's tensor parallelism");
  return lacking;
}

std::string apply_config(const VerlConfig& config, const VerlTasks& tasks, MeasuredIteration& iteration) {
  iteration.framework = is_megatron(config) ? "verl-megatron" : "verl-fsdp";
  set_batch(config, iteration);
  iteration.tasks.push_back(generation_of(config, iteration));
  for (const std::string& name : passes_of(tasks)) iteration.tasks.push_back(pass_of(config, name, iteration));
  for (const MeasuredTask& task : iteration.tasks) {
    if (std::string reason = contradiction(task, iteration.gpus); !reason.empty()) return reason;
  }
  return "";
}

}  // namespace sextant::inline calibrate
