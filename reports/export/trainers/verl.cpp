// verl 0.7.0: a script with Hydra overrides, for FSDP and for Megatron.
//
// Keys are those of verl/trainer/config/_generated_ppo_trainer.yaml and _generated_ppo_megatron_trainer.yaml,
// and of the recipes one_step_off_policy and fully_async_policy.
#include <algorithm>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kRollout = "actor_rollout_ref.rollout.";

// The places of a task in the configuration.
struct VerlTask {
  const char* task;
  std::string root;     // "actor_rollout_ref.actor."
  std::string fsdp;     // its FSDP engine
  std::string budget;   // tokens of a micro-batch
  std::string batch;    // sequences of a micro-batch
  std::string dynamic;  // true: the budget of tokens counts
  bool has_layout;      // false: that of another task
};

const std::vector<VerlTask>& verl_tasks() {
  static const std::string actor = "actor_rollout_ref.actor.", ref = "actor_rollout_ref.ref.",
                           rollout = kRollout;
  static const std::vector<VerlTask> tasks{
      {task_names::kActorTraining, actor, actor + "fsdp_config.", actor + "ppo_max_token_len_per_gpu",
       actor + "ppo_micro_batch_size_per_gpu", actor + "use_dynamic_bsz", true},
      {task_names::kOldLogProb, rollout, "", rollout + "log_prob_max_token_len_per_gpu",
       rollout + "log_prob_micro_batch_size_per_gpu", rollout + "log_prob_use_dynamic_bsz", false},
      {task_names::kReferenceInference, ref, ref + "fsdp_config.", ref + "log_prob_max_token_len_per_gpu",
       ref + "log_prob_micro_batch_size_per_gpu", ref + "log_prob_use_dynamic_bsz", true},
      {task_names::kCriticTraining, "critic.", "critic.model.fsdp_config.", "critic.ppo_max_token_len_per_gpu",
       "critic.ppo_micro_batch_size_per_gpu", "critic.use_dynamic_bsz", true},
      {task_names::kCriticInference, "critic.", "", "critic.forward_max_token_len_per_gpu",
       "critic.forward_micro_batch_size_per_gpu", "critic.use_dynamic_bsz", false},
      {task_names::kRewardInference, "reward_model.", "reward_model.model.fsdp_config.",
       "reward_model.forward_max_token_len_per_gpu", "reward_model.micro_batch_size_per_gpu",
       "reward_model.use_dynamic_bsz", true},
  };
  return tasks;
}

bool is_megatron(const TrainerProblem& problem) { return problem.profile.has_stages_outermost; }

std::string megatron_layers(const VerlTask& task, const char* end) {
  return task.root + "megatron.override_transformer_config.num_layers_in_" + end + "_pipeline_stage";
}

std::string recompute_key(const VerlTask& task, const char* member) {
  return task.root + "megatron.override_transformer_config.recompute_" + member;
}

// Members of Megatron's OptimizerConfig; verl passes on all that are there (verl/utils/megatron/optimizer.py).
std::string optimizer_key(const VerlTask& task, const char* member) {
  return task.root + "optim.override_optimizer_config." + member;
}

std::string model_root(const VerlTask& task) {
  return task.root == "critic." ? "critic.model." : "actor_rollout_ref.model.";
}

bool is_training(const VerlTask& task, const TrainerProblem& problem) {
  return problem.workflow.task(task.task).kind == TaskKind::training;
}

void write_batches(const VerlTask& where, const TrainerTask& task, TrainerSettings& settings) {
  const bool counts_tokens = task.options.execution.micro_batch_tokens > 0;
  if (!settings.has(where.dynamic)) settings.set(where.dynamic, counts_tokens);
  if (counts_tokens) {
    settings.set(where.budget, task.options.execution.micro_batch_tokens);
  } else {
    settings.set(where.batch, task.options.micro_batch_sequences);
  }
}

void write_fsdp(const VerlTask& where, const TrainerTask& task, bool trains, TrainerSettings& settings) {
  const Execution& execution = task.options.execution;
  settings.set(where.root + "ulysses_sequence_parallel_size", execution.context_parallel);
  settings.set(where.fsdp + "fsdp_size", execution.sharded_over > 0 ? execution.sharded_over : -1);
  settings.set(where.fsdp + "param_offload", execution.offload_weights);
  if (where.root == "reward_model.") settings.set("reward_model.model.use_remove_padding", execution.packed);
  if (!trains) return;
  settings.set(where.fsdp + "optimizer_offload", execution.offload_weights);
  settings.set(where.fsdp + "offload_policy", execution.offload_optimizer);
  if (execution.offload_optimizer)
    settings.set(where.root + "strategy", "fsdp2");  // FSDP 1 does not read the policy
  const std::string model = model_root(where);
  settings.set(model + "use_remove_padding", execution.packed);
  settings.set(model + "enable_gradient_checkpointing", task.options.recompute == Recompute::full);
  settings.set(model + "enable_activation_offload", execution.offload_activations);
  settings.set(model + "lora_rank", execution.lora_rank);
  if (execution.lora_rank > 0)  // the frozen weights, which are stored in fp32 unless this is set
    settings.set(where.fsdp + "model_dtype", execution.weight_precision == Precision::fp32 ? "fp32" : "bf16");
  if (execution.lora_rank > 0 && where.root == "actor_rollout_ref.actor.")
    settings.set(std::string(kRollout) + "load_format",
                 "safetensors");  // engines load the base weights themselves
}

// The recipes of the other modes refuse an actor and a critic of two versions of FSDP, even if there is no critic.
void write_common_strategy(TrainerSettings& settings) {
  const std::string actor = "actor_rollout_ref.actor.strategy", critic = "critic.strategy";
  if (settings.has(actor) == settings.has(critic)) return;
  const std::string& present = settings.has(actor) ? actor : critic;
  settings.set(settings.has(actor) ? critic : actor, *settings.find(present));
}

void write_megatron_recompute(const VerlTask& where, Recompute recompute, TrainerSettings& settings) {
  if (recompute == Recompute::none) return;
  settings.set(recompute_key(where, "granularity"), std::string(name_of(recompute)));
  if (recompute != Recompute::full) return;
  settings.set(recompute_key(where, "method"), "uniform");
  settings.set(recompute_key(where, "num_layers"), 1);
}

// Megatron has a group of keys for adapters, which needs Megatron-Bridge (verl/workers/megatron_workers.py).
void write_megatron_adapters(const VerlTask& where, int rank, TrainerSettings& settings) {
  if (rank == 0) return;
  settings.set(model_root(where) + "lora.rank", rank);
  settings.set(where.root + "megatron.use_mbridge", true);
  settings.set(where.root + "megatron.vanilla_mbridge", false);
}

void write_megatron(const VerlTask& where, const TrainerTask& task, bool trains, TrainerSettings& settings) {
  const Execution& execution = task.options.execution;
  const std::string root = where.root + "megatron.";
  write_megatron_degrees(root, task, settings);
  settings.set(root + "sequence_parallel", execution.sequence_parallel);
  settings.set(root + "param_offload", execution.offload_weights);
  if (!trains) return;
  settings.set(root + "grad_offload", execution.offload_weights);
  settings.set(root + "optimizer_offload", execution.offload_weights);
  settings.set(root + "use_distributed_optimizer", execution.zero_stage > 0);
  settings.set(root + "virtual_pipeline_model_parallel_size",
               execution.virtual_stages > 1 ? Json(execution.virtual_stages) : Json(nullptr));
  if (execution.offload_optimizer) {
    settings.add_key(optimizer_key(where, "optimizer_cpu_offload"), true);
    settings.add_key(optimizer_key(where, "optimizer_offload_fraction"), 1.0);  // the class's default is 0.0
    settings.add_key(optimizer_key(where, "use_precision_aware_optimizer"), true);
    settings.add_key(optimizer_key(where, "overlap_cpu_optimizer_d2h_h2d"), true);
  }
  write_megatron_recompute(where, task.options.recompute, settings);
  write_megatron_adapters(where, execution.lora_rank, settings);
  if (!has_uneven_ends(task)) return;
  settings.add_key(megatron_layers(where, "first"), task.stage_layers.front());
  settings.add_key(megatron_layers(where, "last"), task.stage_layers.back());
}

// The default is bfloat16. Megatron's engine has float16 besides and refuses others (verl/workers/config/engine.py).
bool states_verl_precision(const TrainerProblem& problem) {
  return !precision_to_state(problem.workflow).empty() &&
         (problem.workflow.precision == Precision::fp16 || !is_megatron(problem));
}

void write_precision(const std::string& root, const TrainerProblem& problem, TrainerSettings& settings) {
  if (states_verl_precision(problem)) settings.set(root + "dtype", precision_to_state(problem.workflow));
}

void write_task(const VerlTask& where, const TrainerConfig& config, const TrainerProblem& problem,
                TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(where.task);
  settings.begin_group(where.task);
  write_batches(where, task, settings);
  if (!where.has_layout) return;
  const bool is_scored_by_fsdp = where.root == "reward_model." && !is_megatron(problem);  // it has no such key
  if (!is_scored_by_fsdp)
    write_precision(is_megatron(problem) ? where.root + "megatron." : where.fsdp, problem, settings);
  if (is_megatron(problem)) {
    write_megatron(where, task, is_training(where, problem), settings);
  } else {
    write_fsdp(where, task, is_training(where, problem), settings);
  }
}

void write_engine(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(task_names::kActorGeneration);
  const Execution& execution = task.options.execution;
  const std::string root = kRollout;
  settings.begin_group(task_names::kActorGeneration);
  settings.set(root + "name", "vllm");
  settings.set(root + "n", problem.workflow.responses_per_prompt);
  write_precision(root, problem, settings);
  settings.set(root + "tensor_model_parallel_size", task.tensor_parallel);
  if (execution.expert_parallel > 1) {
    settings.set(root + "data_parallel_size", attention_replicas(task));
    settings.set(root + "expert_parallel_size", execution.expert_parallel);
  }
  settings.set(root + "gpu_memory_utilization", engine_fraction(task_names::kActorGeneration, config, problem));
  settings.set(root + "max_num_seqs", task.options.decode_batch_sequences);
  if (execution.prefill_chunk_tokens > 0)
    settings.set(root + "max_num_batched_tokens", execution.prefill_chunk_tokens);
  settings.set(root + "enable_prefix_caching", execution.shared_prompts);
  settings.set(root + "enforce_eager", !execution.cuda_graphs);
  settings.set(root + "free_cache_engine", execution.offload_weights);
}

void write_pools(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  settings.begin_group("GPUs");
  const auto write = [&](const std::string& root, const GpuPool& pool) {
    settings.set(root + "nnodes", pool.nodes);
    settings.set(root + "n_gpus_per_node", pool.gpus_per_node);
  };
  write("trainer.", config.pool_of(task_names::kActorTraining));
  if (problem.workflow.mode != Mode::synchronous) {
    write("rollout.", config.pool_of(task_names::kActorGeneration));
    settings.set("actor_rollout_ref.hybrid_engine", false);
  }
}

void write_mode(const Workflow& workflow, TrainerSettings& settings) {
  const bool has_pass = workflow.has_task(task_names::kOldLogProb);
  if (workflow.mode == Mode::asynchronous) {
    settings.begin_group("Asynchronous training");
    settings.set("async_training.staleness_threshold", workflow.staleness);
    // Training takes so many optimizer steps at a time.
    const int steps = workflow.mini_batches % workflow.streamed_parts == 0
                          ? workflow.mini_batches / workflow.streamed_parts
                          : 1;
    settings.set("async_training.trigger_parameter_sync_step", workflow.mini_batches / steps);
    settings.set("async_training.require_batches", steps);
    settings.set("async_training.partial_rollout", workflow.rollout.is_interrupted);
    settings.set("async_training.use_rollout_log_probs", !has_pass);
    // The rollouter refuses engines that do not return them (recipe/fully_async_policy/fully_async_rollouter.py).
    settings.set(std::string(kRollout) + "calculate_log_probs", true);
    settings.set("rollout.n", workflow.responses_per_prompt);
    settings.set_shell("rollout.total_rollout_steps", "${TOTAL_PROMPTS}");
    return;
  }
  if (has_pass && workflow.mode == Mode::synchronous) return;
  settings.begin_group("Log-probabilities of the rollout");
  settings.set("algorithm.rollout_correction.bypass_mode", !has_pass);
  settings.set(std::string(kRollout) + "calculate_log_probs", true);
}

void write_data(const Workflow& workflow, TrainerSettings& settings) {
  const bool is_async = workflow.mode == Mode::asynchronous;
  settings.begin_group("Algorithm, data and batches");
  settings.set("algorithm.adv_estimator", workflow.has_task(task_names::kCriticTraining) ? "gae" : "grpo");
  settings.set_shell("data.train_files", "${TRAIN_FILE}");
  settings.set_shell("data.val_files", "${VAL_FILE}");
  settings.set("data.train_batch_size", is_async ? 0 : workflow.prompts);
  if (is_async) settings.set("data.gen_batch_size", 1);
  settings.set("data.max_prompt_length", max_prompt_tokens(workflow));
  settings.set("data.max_response_length", max_response_tokens(workflow));
  settings.set("data.filter_overlong_prompts", true);
  settings.set_shell("actor_rollout_ref.model.path", "${MODEL_PATH}");
  settings.set("actor_rollout_ref.actor.ppo_mini_batch_size", prompts_per_step(workflow));
  settings.set("actor_rollout_ref.actor.use_kl_loss", workflow.has_task(task_names::kReferenceInference));
}

void write_reward_model(const TrainerConfig& config, TrainerSettings& settings) {
  settings.set("reward_model.enable", true);
  settings.set("reward_model.use_reward_loop", false);
  settings.set_shell("reward_model.model.path", "${REWARD_MODEL_PATH}");
  const GpuPool& pool = config.pool_of(task_names::kRewardInference);
  const bool has_own_pool = !(pool == config.pool_of(task_names::kActorTraining));
  settings.set("reward_model.enable_resource_pool", has_own_pool);
  if (!has_own_pool) return;
  settings.set("reward_model.nnodes", pool.nodes);
  settings.set("reward_model.n_gpus_per_node", pool.gpus_per_node);
}

std::string verl_command(const TrainerProblem& problem) {
  const std::string trainer = is_megatron(problem) ? "ppo_megatron_trainer" : "ppo_trainer";
  const auto recipe = [&](const std::string& module, const std::string& prefix) {
    return "python3 -m recipe." + module + " --config-path=config --config-name=" + prefix + trainer + ".yaml";
  };
  if (problem.workflow.mode == Mode::one_step_off)
    return recipe("one_step_off_policy.main_ppo", "one_step_off_");
  if (problem.workflow.mode == Mode::asynchronous)
    return recipe("fully_async_policy.fully_async_main", "fully_async_");
  return "python3 -m verl.trainer.main_ppo" +
         (is_megatron(problem) ? std::string(" --config-name=ppo_megatron_trainer.yaml") : std::string());
}

void add_variables(const Workflow& workflow, TrainerScript& script) {
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  if (workflow.has_task(task_names::kCriticTraining))
    script.variables.push_back(model_variable("CRITIC_PATH", "the critic's model", workflow, "critic"));
  if (workflow.has_task(task_names::kRewardInference))
    script.variables.push_back(model_variable("REWARD_MODEL_PATH", "the reward model", workflow, "reward"));
  script.variables.push_back({"TRAIN_FILE", "prompts for training, a parquet file of verl's form", ""});
  script.variables.push_back({"VAL_FILE", "prompts for validation, a parquet file of verl's form", ""});
  if (workflow.mode == Mode::asynchronous)
    script.variables.push_back({"TOTAL_PROMPTS", "prompts to train on in all, after which training ends", ""});
}

TrainerScript write_verl(const TrainerConfig& config, const TrainerProblem& problem) {
  const Workflow& workflow = problem.workflow;
  TrainerScript script;
  TrainerSettings& settings = script.settings;
  script.states_precision = states_verl_precision(problem);
  write_data(workflow, settings);
  write_pools(config, problem, settings);
  write_engine(config, problem, settings);
  for (const VerlTask& task : verl_tasks()) {
    if (workflow.has_task(task.task)) write_task(task, config, problem, settings);
    if (workflow.has_task(task.task) && task.root == "critic." && task.has_layout)
      settings.set_shell("critic.model.path", "${CRITIC_PATH}");
    if (workflow.has_task(task.task) && task.root == "reward_model.") write_reward_model(config, settings);
  }
  write_mode(workflow, settings);
  if (workflow.mode != Mode::synchronous) write_common_strategy(settings);
  settings.begin_group("Logs");
  settings.set("trainer.logger", Json::array({"console", "file"}));
  settings.set("trainer.project_name", "sextant");
  settings.set("trainer.experiment_name", run_name(config.plan, problem));
  add_variables(workflow, script);
  note_uneven_steps(workflow, script);
  if (script.states_precision && workflow.has_task(task_names::kRewardInference) && !is_megatron(problem))
    script.notes.emplace_back(
        "verl's FSDP worker of the reward model computes in bfloat16, whatever the others do.");
  if (workflow.mode != Mode::synchronous)
    script.notes.emplace_back("Run it in a checkout of verl " + problem.profile.version +
                              ": this mode is a recipe there.");
  script.command = verl_command(problem);
  return script;
}

void read_batches(const VerlTask& where, const TrainerSettings& settings, TaskPlan& options) {
  Execution& execution = options.execution;
  if (settings.flag(where.dynamic, false)) {
    execution.micro_batch_tokens = settings.count(where.budget, execution.micro_batch_tokens);
  } else {
    execution.micro_batch_tokens = 0;
    options.micro_batch_sequences = settings.count(where.batch, options.micro_batch_sequences);
  }
}

void read_fsdp(const VerlTask& where, const TrainerSettings& settings, bool trains, TrainerTask& task) {
  Execution& execution = task.options.execution;
  execution.context_parallel = settings.count(where.root + "ulysses_sequence_parallel_size", 1);
  execution.sharded_over = std::max(0, settings.integer(where.fsdp + "fsdp_size", -1));
  execution.offload_weights = settings.flag(where.fsdp + "param_offload", false);
  if (where.root == "reward_model.")
    execution.packed = settings.flag("reward_model.model.use_remove_padding", false);
  if (!trains) return;
  const std::string model = model_root(where);
  execution.offload_optimizer = settings.flag(where.fsdp + "offload_policy", false);
  execution.packed = settings.flag(model + "use_remove_padding", true);
  execution.offload_activations = settings.flag(model + "enable_activation_offload", false);
  execution.lora_rank = settings.integer(model + "lora_rank", 0);
  if (execution.lora_rank > 0) {
    const std::string stored = settings.text(where.fsdp + "model_dtype", "fp32");
    if (stored == "fp32" || stored == "float32") execution.weight_precision = Precision::fp32;
  }
  task.options.recompute =
      settings.flag(model + "enable_gradient_checkpointing", true) ? Recompute::full : Recompute::none;
}

// The layers of the first and the last stage; 0: not stated.
std::pair<int, int> read_ends(const VerlTask& where, const TrainerSettings& settings) {
  const auto layers = [&](const char* end) {
    const std::string key = megatron_layers(where, end);
    return settings.has(key) ? settings.integer(key, 0) : 0;
  };
  return {layers("first"), layers("last")};
}

void read_megatron(const VerlTask& where, const TrainerSettings& settings, bool trains, TrainerTask& task) {
  Execution& execution = task.options.execution;
  const std::string root = where.root + "megatron.";
  read_megatron_degrees(settings, root, task);
  execution.sequence_parallel = settings.flag(root + "sequence_parallel", true);
  execution.offload_weights = settings.flag(root + "param_offload", false);
  if (!trains) return;
  execution.zero_stage = settings.flag(root + "use_distributed_optimizer", true) ? 1 : 0;
  execution.virtual_stages = settings.count(root + "virtual_pipeline_model_parallel_size", 1);
  // Megatron leaves all states on the GPU unless a fraction is stated.
  const double offloaded = settings.number(optimizer_key(where, "optimizer_offload_fraction"), 0);
  execution.offload_optimizer =
      settings.flag(optimizer_key(where, "optimizer_cpu_offload"), false) && offloaded > 0;
  execution.lora_rank = settings.integer(model_root(where) + "lora.rank", 0);
  const std::string granularity = settings.text(recompute_key(where, "granularity"), "");
  task.options.recompute = granularity == "full"        ? Recompute::full
                           : granularity == "selective" ? Recompute::selective
                                                        : Recompute::none;
}

void take_layout(const TrainerTask& of, TrainerTask& task) {
  task.pipeline_parallel = of.pipeline_parallel;
  task.tensor_parallel = of.tensor_parallel;
  task.stage_layers = of.stage_layers;
  Execution& execution = task.options.execution;
  execution.context_parallel = of.options.execution.context_parallel;
  execution.expert_parallel = of.options.execution.expert_parallel;
  execution.expert_tensor_parallel = of.options.execution.expert_tensor_parallel;
  execution.sequence_parallel = of.options.execution.sequence_parallel;
}

void read_engine(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const std::string root = kRollout, name = task_names::kActorGeneration;
  TrainerTask& task = config.tasks.at(name);
  Execution& execution = task.options.execution;
  task.tensor_parallel = settings.count(root + "tensor_model_parallel_size", 2);
  execution.expert_parallel = settings.count(root + "expert_parallel_size", 1);
  const int replicas = settings.count(root + "data_parallel_size", 1);
  if (execution.expert_parallel > 1 && execution.expert_parallel != task.tensor_parallel * replicas)
    throw_bad_input(root + "expert_parallel_size: verl refuses " + std::to_string(execution.expert_parallel) +
                    ": it is not tensor_model_parallel_size x data_parallel_size, " +
                    std::to_string(task.tensor_parallel) + " x " + std::to_string(replicas));
  keep_experts_whole(task.tensor_parallel, execution);
  task.options.decode_batch_sequences =
      settings.count(root + "max_num_seqs", task.options.decode_batch_sequences);
  execution.prefill_chunk_tokens =
      settings.count(root + "max_num_batched_tokens", execution.prefill_chunk_tokens);
  execution.shared_prompts = settings.flag(root + "enable_prefix_caching", true);
  execution.cuda_graphs = !settings.flag(root + "enforce_eager", false);
  execution.offload_weights = settings.flag(root + "free_cache_engine", true);
  complete_layout(name, problem, 0, 0, config);
  constexpr double kDefaultFraction = 0.5;
  take_engine_fraction(settings.number(root + "gpu_memory_utilization", kDefaultFraction), name, problem,
                       config);
}

void read_pools(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  constexpr int kDefaultGpus = 8;
  const auto take = [&](const std::string& name, const std::string& root) {
    return take_pool(name, settings.count(root + "nnodes", 1, TrainerSettings::kMaxNodes),
                     settings.count(root + "n_gpus_per_node", kDefaultGpus, TrainerSettings::kMaxGpusPerNode),
                     problem.cluster, config);
  };
  const int trainer = take("trainer", "trainer.");
  for (auto& [name, task] : config.tasks) task.pool = trainer;
  if (problem.workflow.mode != Mode::synchronous)
    config.tasks.at(task_names::kActorGeneration).pool = take("rollout", "rollout.");
  if (settings.flag("reward_model.enable_resource_pool", false))
    config.tasks.at(task_names::kRewardInference).pool = take(task_names::kRewardInference, "reward_model.");
}

void read_verl(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  read_pools(settings, problem, config);
  read_engine(settings, problem, config);
  for (const VerlTask& where : verl_tasks()) {
    if (!problem.workflow.has_task(where.task)) continue;
    TrainerTask& task = config.tasks.at(where.task);
    read_batches(where, settings, task.options);
    std::pair<int, int> ends{0, 0};
    if (!where.has_layout) {
      const char* of = where.root == "critic." ? task_names::kCriticTraining : task_names::kActorTraining;
      take_layout(config.tasks.at(of), task);
      task.options.execution.offload_weights = config.tasks.at(of).options.execution.offload_weights;
      task.options.execution.sharded_over = config.tasks.at(of).options.execution.sharded_over;
      if (!is_megatron(problem)) task.options.execution.packed = config.tasks.at(of).options.execution.packed;
      task.data_parallel = replicas_in_pool(task, config);
      continue;
    }
    if (is_megatron(problem)) {
      read_megatron(where, settings, is_training(where, problem), task);
      if (is_training(where, problem)) {
        ends = read_ends(where, settings);
      } else if (task.pipeline_parallel > 1 && where.root != "reward_model.") {
        ends = read_ends(verl_tasks().front(), settings);  // the actor's
      }
    } else {
      read_fsdp(where, settings, is_training(where, problem), task);
      if (where.root == "actor_rollout_ref.ref.")
        task.options.execution.packed = settings.flag("actor_rollout_ref.model.use_remove_padding", true);
    }
    complete_layout(where.task, problem, ends.first, ends.second, config);
    // FSDP shards over all devices anyway.
    Execution& execution = task.options.execution;
    if (execution.sharded_over >= task.data_parallel * execution.context_parallel) execution.sharded_over = 0;
  }
}

// Megatron's distributed optimizer is ZeRO 1, and the only one whose states leave the GPU. A critic counts all its
// micro-batches in one unit.
std::string settle_verl(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  const Plan before = plan;
  if (profile.has_stages_outermost) split_sequences_of_experts(plan, workflow);
  for (const Task& task : workflow.tasks) {
    Execution& execution = plan.tasks.at(task.name).execution;
    if (task.kind == TaskKind::training && profile.has_stages_outermost) {
      execution.zero_stage = std::min(execution.zero_stage, 1);
      if (execution.offload_optimizer) execution.zero_stage = 1;  // the only optimizer that leaves the GPU
    }
    if (task.kind != TaskKind::generation) continue;
    TaskPlan& engine = plan.tasks.at(task.name);
    fit_engine_experts(engine);
    keep_experts_whole(engine.tensor_parallel(engine.replicas.front().stages.front()), execution);
  }
  if (workflow.has_task(task_names::kCriticTraining) && workflow.has_task(task_names::kCriticInference)) {
    const TaskPlan& training = plan.tasks.at(task_names::kCriticTraining);
    TaskPlan& pass = plan.tasks.at(task_names::kCriticInference);
    if ((pass.execution.micro_batch_tokens > 0) != (training.execution.micro_batch_tokens > 0)) {
      pass.execution.micro_batch_tokens = training.execution.micro_batch_tokens;
      pass.micro_batch_sequences = training.micro_batch_sequences;
    }
  }
  return plan == before ? ""
                        : "Sharding, the unit of micro-batches, the split of a mixture's sequences and the "
                          "distribution of the engine's experts are as the framework has them";
}

DialectRules verl_rules(const FrameworkProfile& profile) {
  DialectRules rules;
  rules.holds_longest_sequence = true;
  rules.settle = settle_verl;
  rules.more_options = {"inference.micro_batch_sequences", "generation.expert_tensor_parallel"};
  rules.more_options.emplace_back(profile.has_stages_outermost ? "inference.sequence_parallel"
                                                               : "inference.packed");
  return rules;
}

std::string verl_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  if (!config.tasks.contains(task_names::kActorTraining) ||
      !config.tasks.contains(task_names::kActorGeneration))
    return "verl runs PPO and GRPO; the workflow has no generation or no training of an actor";
  const bool has_adapters = config.tasks.at(task_names::kActorTraining).options.execution.lora_rank > 0;
  if (has_adapters && !is_megatron(problem) && problem.workflow.mode != Mode::synchronous)
    return "verl's recipes of generation apart send the weights of the FSDP trainer without joining its "
           "adapters to them";
  return "";
}

}  // namespace

Dialect verl_fsdp_dialect() {
  return {"verl", "verl-fsdp", SettingForm::hydra, verl_rules, verl_refusal, write_verl, read_verl};
}

Dialect verl_megatron_dialect() {
  return {"verl", "verl-megatron", SettingForm::hydra, verl_rules, verl_refusal, write_verl, read_verl};
}

}  // namespace sextant::inline reports
