// NeMo RL 0.7.0: a YAML file that extends examples/configs/grpo_math_1B.yaml, for DTensor and for Megatron.
#include <algorithm>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kNemoVllm = "policy.generation.vllm_cfg.";
constexpr const char* kVllmArguments = "policy.generation.vllm_kwargs.";
constexpr const char* kColocated = "policy.generation.colocated.";
constexpr const char* kMegatron = "policy.megatron_cfg.";
constexpr const char* kDtensor = "policy.dtensor_cfg.";
constexpr const char* kPacking = "policy.sequence_packing.";
constexpr const char* kCpuAdam = "policy.megatron_cfg.optimizer.optimizer_cpu_offload";

bool uses_megatron(const TrainerProblem& problem) { return problem.profile.has_stages_outermost; }

bool is_colocated(const TrainerConfig& config) {
  return config.tasks.at(task_names::kActorGeneration).pool == config.tasks.at(task_names::kActorTraining).pool;
}

// The tasks that run in the trainer's workers in addition to training.
std::vector<std::string> log_prob_tasks(const Workflow& workflow) {
  std::vector<std::string> out;
  for (const char* name : {task_names::kOldLogProb, task_names::kReferenceInference}) {
    if (workflow.has_task(name)) out.emplace_back(name);
  }
  return out;
}

// vLLM's asynchronous engine, which pipeline parallelism needs (nemo_rl/models/generation/vllm/vllm_generation.py).
bool is_async_engine(const Workflow& workflow, int stages) {
  return workflow.mode != Mode::synchronous || stages > 1;
}

// The engine's expert parallelism is a multiple of its tensor parallelism, and equal to it where the engine is
// asynchronous (nemo_rl/models/generation/vllm/vllm_generation.py).
void settle_nemo_engine(const Workflow& workflow, TaskPlan& plan) {
  const int tensor_parallel = plan.tensor_parallel(plan.replicas.front().stages.front());
  fit_engine_experts(plan);
  keep_experts_whole(tensor_parallel, plan.execution);
  const bool is_async = is_async_engine(workflow, plan.replicas.front().pipeline_parallel());
  if (!is_async || plan.execution.expert_parallel <= 1) return;
  plan.execution.expert_parallel = tensor_parallel;
  keep_experts_whole(tensor_parallel, plan.execution);
}

// Packing and budgets of tokens are there together or not at all.
std::string settle_nemo_rl(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  if (!workflow.has_task(task_names::kActorTraining) || !workflow.has_task(task_names::kActorGeneration))
    return "";
  const Plan before = plan;
  TaskPlan& training = plan.tasks.at(task_names::kActorTraining);
  const TaskPlan usual = default_options(profile, TaskKind::training);
  const TaskPlan usual_pass = default_options(profile, TaskKind::inference);
  Execution& execution = training.execution;
  execution.packed = execution.micro_batch_tokens > 0;
  settle_nemo_engine(workflow, plan.tasks.at(task_names::kActorGeneration));
  if (profile.has_stages_outermost) {
    execution.zero_stage = std::min(execution.zero_stage, 1);
    split_sequences_of_experts(plan, workflow);
  }
  const std::vector<std::string> passes = log_prob_tasks(workflow);
  // NeMo RL refuses passes with another number of sequences from this degree on, because their log-probabilities would
  // differ from those of training (nemo_rl/models/policy/lm_policy.py).
  constexpr int kEqualBatchesFrom = 4;
  const bool has_equal_batches =
      training.tensor_parallel(training.replicas.front().stages.front()) >= kEqualBatchesFrom;
  for (const std::string& name : passes) {
    TaskPlan& pass = plan.tasks.at(name);
    const TaskPlan& first = plan.tasks.at(passes.front());
    pass.execution.packed = execution.packed;
    if (!execution.packed) {
      pass.execution.micro_batch_tokens = 0;
      pass.micro_batch_sequences = first.micro_batch_sequences;
    } else if (pass.execution.micro_batch_tokens == 0) {
      pass.execution.micro_batch_tokens = execution.micro_batch_tokens;
      pass.micro_batch_sequences = usual_pass.micro_batch_sequences;
    }
    if (has_equal_batches) pass.micro_batch_sequences = training.micro_batch_sequences;
  }
  if (!execution.packed) execution.fused_attention = usual.execution.fused_attention;
  return plan == before
             ? ""
             : "All passes of the trainer are packed, with a budget of tokens, or none, and have the trainer's "
               "number "
               "of sequences from a tensor-parallel degree of 4 on; Megatron "
               "shards with ZeRO 1 and splits the sequences of mixtures; engines with expert parallelism do "
               "not split experts, and asynchronous "
               "ones have no data-parallel attention";
}

void write_nemo_dtensor(const TrainerTask& task, TrainerSettings& settings) {
  const Execution& execution = task.options.execution;
  const std::string root = kDtensor;
  settings.set(root + "enabled", true);
  settings.set(root + "tensor_parallel_size", task.tensor_parallel);
  settings.set(root + "context_parallel_size", execution.context_parallel);
  settings.set(root + "sequence_parallel", execution.sequence_parallel && task.tensor_parallel > 1);
  settings.set(root + "activation_checkpointing", task.options.recompute == Recompute::full);
  settings.set(root + "cpu_offload", execution.offload_optimizer);
  settings.set(root + "lora_cfg.enabled", execution.lora_rank > 0);
  if (execution.lora_rank > 0) {
    settings.set(root + "lora_cfg.dim", execution.lora_rank);
    settings.set(root + "lora_cfg.use_triton",
                 task.tensor_parallel == 1);  // these kernels know no tensor parallelism
  }
  settings.set(std::string(kMegatron) + "enabled", false);
}

void write_nemo_megatron(const TrainerTask& task, TrainerSettings& settings) {
  const Execution& execution = task.options.execution;
  const std::string root = kMegatron;
  settings.set(std::string(kDtensor) + "enabled", false);
  settings.set(root + "enabled", true);
  settings.set(root + "tensor_model_parallel_size", task.tensor_parallel);
  settings.set(root + "pipeline_model_parallel_size", task.pipeline_parallel);
  settings.set(root + "context_parallel_size", execution.context_parallel);
  settings.set(root + "expert_model_parallel_size", execution.expert_parallel);
  settings.set(root + "expert_tensor_parallel_size",
               execution.expert_tensor_parallel > 0 ? execution.expert_tensor_parallel : task.tensor_parallel);
  settings.set(root + "sequence_parallel", execution.sequence_parallel && task.tensor_parallel > 1);
  settings.set(root + "activation_checkpointing", task.options.recompute == Recompute::full);
  if (has_uneven_ends(task)) {
    settings.set(root + "num_layers_in_first_pipeline_stage", task.stage_layers.front());
    settings.set(root + "num_layers_in_last_pipeline_stage", task.stage_layers.back());
  }
  settings.set(root + "optimizer.use_distributed_optimizer", execution.zero_stage > 0);
  settings.set(kCpuAdam, execution.offload_optimizer);
  settings.set(root + "optimizer.optimizer_offload_fraction", execution.offload_optimizer ? 1.0 : 0.0);
  settings.set(root + "peft.enabled", execution.lora_rank > 0);
  if (execution.lora_rank > 0) settings.set(root + "peft.dim", execution.lora_rank);
}

void write_nemo_batches(const TrainerConfig& config, const Workflow& workflow, TrainerSettings& settings) {
  const TrainerTask& training = config.tasks.at(task_names::kActorTraining);
  const Execution& execution = training.options.execution;
  const std::vector<std::string> passes = log_prob_tasks(workflow);
  const TaskPlan& pass = passes.empty() ? training.options : config.tasks.at(passes.front()).options;
  settings.set("policy.train_global_batch_size", prompts_per_step(workflow) * workflow.responses_per_prompt);
  settings.set("policy.train_micro_batch_size", training.options.micro_batch_sequences);
  settings.set("policy.logprob_batch_size", pass.micro_batch_sequences);
  settings.set("policy.max_total_sequence_length", max_prompt_tokens(workflow) + max_response_tokens(workflow));
  settings.set(
      "policy.make_sequence_length_divisible_by",
      training.tensor_parallel * (execution.context_parallel > 1 ? 2 * execution.context_parallel : 1));
  settings.set(std::string(kPacking) + "enabled", execution.packed);
  if (!execution.packed) return;
  settings.set(std::string(kPacking) + "train_mb_tokens", execution.micro_batch_tokens);
  settings.set(std::string(kPacking) + "logprob_mb_tokens", pass.execution.micro_batch_tokens);
}

void write_nemo_engine(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(task_names::kActorGeneration);
  const Execution& execution = task.options.execution;
  const std::string root = kNemoVllm;
  settings.set("policy.generation.backend", "vllm");
  settings.set("policy.generation.max_new_tokens", max_response_tokens(problem.workflow));
  settings.set(root + "tensor_parallel_size", task.tensor_parallel);
  settings.set(root + "pipeline_parallel_size", task.pipeline_parallel);
  settings.set(root + "expert_parallel_size", execution.expert_parallel);
  settings.set(root + "gpu_memory_utilization", engine_fraction(task_names::kActorGeneration, config, problem));
  settings.set(root + "enforce_eager", !execution.cuda_graphs);
  settings.set(root + "enable_prefix_caching", execution.shared_prompts);
  settings.set(root + "async_engine", is_async_engine(problem.workflow, task.pipeline_parallel));
  settings.set(std::string(kVllmArguments) + "max_num_seqs", task.options.decode_batch_sequences);
  if (execution.prefill_chunk_tokens > 0)
    settings.set(std::string(kVllmArguments) + "max_num_batched_tokens", execution.prefill_chunk_tokens);
  settings.set(std::string(kColocated) + "enabled", is_colocated(config));
  if (is_colocated(config)) return;
  const GpuPool& pool = config.pool_of(task_names::kActorGeneration);
  const bool shares_node =
      config.pool_of(task_names::kActorTraining).nodes == 1 && pool.nodes == 1 &&
      problem.cluster.node_of(pool.devices.front()) ==
          problem.cluster.node_of(config.pool_of(task_names::kActorTraining).devices.front());
  settings.set(std::string(kColocated) + "resources.num_nodes", shares_node ? Json(nullptr) : Json(pool.nodes));
  settings.set(std::string(kColocated) + "resources.gpus_per_node", pool.gpus_per_node);
}

// Nodes and GPUs per node of the trainer's and the engine's pool together. Two pools on one node make one.
std::pair<int, int> nemo_cluster(const TrainerConfig& config, const Cluster& cluster) {
  const GpuPool& trainer = config.pool_of(task_names::kActorTraining);
  if (is_colocated(config)) return {trainer.nodes, trainer.gpus_per_node};
  const GpuPool& engine = config.pool_of(task_names::kActorGeneration);
  if (trainer.nodes == 1 && engine.nodes == 1 &&
      cluster.node_of(trainer.devices.front()) == cluster.node_of(engine.devices.front()))
    return {1, trainer.gpus_per_node + engine.gpus_per_node};
  return {trainer.nodes + engine.nodes, trainer.gpus_per_node};
}

void write_nemo_mode(const Workflow& workflow, TrainerSettings& settings) {
  const bool is_async = workflow.mode != Mode::synchronous;
  settings.set("grpo.async_grpo.enabled", is_async);
  if (is_async) {
    settings.set("grpo.async_grpo.max_trajectory_age_steps", std::max(1, static_cast<int>(workflow.staleness)));
    settings.set("grpo.async_grpo.in_flight_weight_updates", workflow.rollout.is_interrupted);
    settings.set("loss_fn.use_importance_sampling_correction", true);
  }
  if (!workflow.has_task(task_names::kReferenceInference))
    settings.set("loss_fn.reference_policy_kl_penalty", 0.0);
}

// The engine and Megatron's pipeline follow policy.precision; Megatron's optimizer has flags of its own, and a check
// that they agree (nemo_rl/models/megatron/setup.py).
void write_nemo_precision(const TrainerProblem& problem, TrainerScript& script) {
  const std::string name = precision_to_state(problem.workflow);
  if (name.empty()) return;
  script.settings.set("policy.precision", name);
  if (uses_megatron(problem)) {
    script.settings.set(std::string(kMegatron) + "optimizer.bf16", false);
    script.settings.set(std::string(kMegatron) + "optimizer.fp16",
                        problem.workflow.precision == Precision::fp16);
  }
  script.states_precision = true;
}

TrainerScript write_nemo_rl(const TrainerConfig& config, const TrainerProblem& problem) {
  const Workflow& workflow = problem.workflow;
  TrainerScript script;
  TrainerSettings& settings = script.settings;
  settings.set("defaults", "grpo_math_1B.yaml");
  const auto [nodes, gpus] = nemo_cluster(config, problem.cluster);
  settings.set("cluster.num_nodes", nodes);
  settings.set("cluster.gpus_per_node", gpus);
  settings.set("grpo.num_prompts_per_step", workflow.prompts);
  settings.set("grpo.num_generations_per_prompt", workflow.responses_per_prompt);
  write_nemo_mode(workflow, settings);
  settings.set_shell("policy.model_name", "${MODEL_PATH}");
  write_nemo_precision(problem, script);
  write_nemo_batches(config, workflow, settings);
  const TrainerTask& training = config.tasks.at(task_names::kActorTraining);
  if (uses_megatron(problem)) {
    write_nemo_megatron(training, settings);
  } else {
    write_nemo_dtensor(training, settings);
  }
  write_nemo_engine(config, problem, settings);
  settings.set_shell("data.train.dataset_name", "${DATASET}");
  settings.set("data.max_input_seq_length", max_prompt_tokens(workflow));
  settings.set("logger.wandb.name", run_name(config.plan, problem));
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  script.variables.push_back(
      {"DATASET", "prompts for training, a data set that NeMo RL knows", "OpenMathInstruct-2"});
  script.variables.push_back({"CONFIG", "where the configuration is written, next to grpo_math_1B.yaml",
                              "examples/configs/" + run_name(config.plan, problem) + ".yaml"});
  script.notes.emplace_back("Run it in a checkout of NeMo RL " + problem.profile.version + ".");
  if (!workflow.has_task(task_names::kOldLogProb))
    script.notes.emplace_back(
        "NeMo RL computes the actor's log-probabilities again before training; the workflow "
        "has no such pass.");
  note_uneven_steps(workflow, script);
  script.command = "uv run examples/run_grpo.py --config \"$CONFIG\"";
  return script;
}

void read_nemo_training(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(task_names::kActorTraining);
  Execution& execution = task.options.execution;
  const std::string root = uses_megatron(problem) ? kMegatron : kDtensor;
  task.options.recompute =
      settings.flag(root + "activation_checkpointing", false) ? Recompute::full : Recompute::none;
  execution.context_parallel = settings.count(root + "context_parallel_size", 1);
  int first = 0, last = 0;
  if (uses_megatron(problem)) {
    task.tensor_parallel = settings.count(root + "tensor_model_parallel_size", 1);
    task.pipeline_parallel = settings.count(root + "pipeline_model_parallel_size", 1);
    execution.expert_parallel = settings.count(root + "expert_model_parallel_size", 1);
    execution.expert_tensor_parallel = settings.count(root + "expert_tensor_parallel_size", 1);
    const auto layers = [&](const char* end) {
      const std::string key = root + "num_layers_in_" + end + "_pipeline_stage";
      return settings.has(key) ? settings.integer(key, 0) : 0;
    };
    first = layers("first");
    last = layers("last");
    execution.zero_stage = settings.flag(root + "optimizer.use_distributed_optimizer", true) ? 1 : 0;
    execution.offload_optimizer = settings.flag(kCpuAdam, false);
    execution.lora_rank =
        settings.flag(root + "peft.enabled", false) ? settings.count(root + "peft.dim", 8) : 0;
  } else {
    task.tensor_parallel = settings.count(root + "tensor_parallel_size", 1);
    execution.offload_optimizer = settings.flag(root + "cpu_offload", false);
    execution.lora_rank =
        settings.flag(root + "lora_cfg.enabled", false) ? settings.count(root + "lora_cfg.dim", 8) : 0;
  }
  if (task.tensor_parallel > 1) execution.sequence_parallel = settings.flag(root + "sequence_parallel", false);
  execution.offload_weights = settings.flag(std::string(kColocated) + "enabled", true);
  execution.packed = settings.flag(std::string(kPacking) + "enabled", true);
  execution.micro_batch_tokens =
      execution.packed ? settings.count(std::string(kPacking) + "train_mb_tokens", 0) : 0;
  task.options.micro_batch_sequences = settings.count("policy.train_micro_batch_size", 4);
  complete_layout(task_names::kActorTraining, problem, first, last, config);
}

void read_nemo_passes(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const TrainerTask& training = config.tasks.at(task_names::kActorTraining);
  for (const std::string& name : log_prob_tasks(problem.workflow)) {
    TrainerTask& task = config.tasks.at(name);
    TaskPlan options = task.options;
    const Execution& of = training.options.execution;
    options.execution.context_parallel = of.context_parallel;
    options.execution.expert_parallel = of.expert_parallel;
    options.execution.expert_tensor_parallel = of.expert_tensor_parallel;
    options.execution.sequence_parallel = of.sequence_parallel;
    options.execution.packed = of.packed;
    options.execution.micro_batch_tokens =
        of.packed ? settings.count(std::string(kPacking) + "logprob_mb_tokens", 0) : 0;
    options.micro_batch_sequences = settings.count("policy.logprob_batch_size", 4);
    task = training;
    task.options = options;
  }
}

void read_nemo_engine(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const std::string name = task_names::kActorGeneration, root = kNemoVllm;
  TrainerTask& task = config.tasks.at(name);
  Execution& execution = task.options.execution;
  task.tensor_parallel = settings.count(root + "tensor_parallel_size", 1);
  task.pipeline_parallel = settings.count(root + "pipeline_parallel_size", 1);
  execution.expert_parallel = settings.count(root + "expert_parallel_size", 1);
  keep_experts_whole(task.tensor_parallel, execution);
  execution.cuda_graphs = !settings.flag(root + "enforce_eager", false);
  execution.shared_prompts = settings.flag(root + "enable_prefix_caching", true);
  task.options.decode_batch_sequences =
      settings.count(std::string(kVllmArguments) + "max_num_seqs", task.options.decode_batch_sequences);
  execution.prefill_chunk_tokens =
      settings.count(std::string(kVllmArguments) + "max_num_batched_tokens", execution.prefill_chunk_tokens);
  const auto sleeps = problem.profile.engine_sleeps.find(problem.workflow.mode);
  if (sleeps != problem.profile.engine_sleeps.end()) execution.offload_weights = sleeps->second;
  complete_layout(name, problem, 0, 0, config);
  constexpr double kDefaultFraction = 0.6;
  take_engine_fraction(settings.number(root + "gpu_memory_utilization", kDefaultFraction), name, problem,
                       config);
}

void read_nemo_rl(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const int nodes = settings.count("cluster.num_nodes", 1, TrainerSettings::kMaxNodes),
            gpus = settings.count("cluster.gpus_per_node", 1, TrainerSettings::kMaxGpusPerNode);
  const std::string resources = std::string(kColocated) + "resources.";
  if (settings.flag(std::string(kColocated) + "enabled", true)) {
    const int pool = take_pool("trainer", nodes, gpus, problem.cluster, config);
    for (auto& [name, task] : config.tasks) task.pool = pool;
  } else {
    const int engine_gpus = settings.count(resources + "gpus_per_node", gpus, TrainerSettings::kMaxGpusPerNode);
    const int engine_nodes = settings.count(resources + "num_nodes", 0);
    const int trainer = engine_nodes == 0 || nodes == 1  // a single node is divided
                            ? take_pool("trainer", 1, gpus - engine_gpus, problem.cluster, config)
                            : take_pool("trainer", nodes - engine_nodes, gpus, problem.cluster, config);
    for (auto& [name, task] : config.tasks) task.pool = trainer;
    config.tasks.at(task_names::kActorGeneration).pool =
        take_pool("rollout", std::max(1, engine_nodes), engine_gpus, problem.cluster, config);
  }
  read_nemo_engine(settings, problem, config);
  read_nemo_training(settings, problem, config);
  read_nemo_passes(settings, problem, config);
}

DialectRules nemo_rl_rules(const FrameworkProfile& profile) {
  DialectRules rules;
  rules.holds_longest_sequence = true;
  rules.more_options = {"inference.packed", "generation.expert_tensor_parallel"};
  if (!profile.has_stages_outermost) rules.more_options.emplace_back("inference.context_parallel");
  rules.settle = settle_nemo_rl;
  return rules;
}

std::string nemo_rl_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  for (const Task& task : problem.workflow.tasks) {
    const bool is_known = task.name == task_names::kActorGeneration ||
                          task.name == task_names::kActorTraining || task.name == task_names::kOldLogProb ||
                          task.name == task_names::kReferenceInference;
    if (!is_known)
      return "The export to NeMo RL covers GRPO with rule-based rewards; the workflow has the task " +
             task.name;
  }
  if (!config.tasks.contains(task_names::kActorTraining) ||
      !config.tasks.contains(task_names::kActorGeneration))
    return "NeMo RL runs GRPO; the workflow has no generation or no training of an actor";
  const TrainerTask& training = config.tasks.at(task_names::kActorTraining);
  if (!uses_megatron(problem) && training.options.execution.context_parallel > 1 &&
      training.options.execution.packed)
    return "NeMo RL cannot combine the DTensor trainer's context parallelism with packing";
  if (is_colocated(config)) return "";
  const GpuPool& engine = config.pool_of(task_names::kActorGeneration);
  const GpuPool& trainer = config.pool_of(task_names::kActorTraining);
  const bool is_one_node = nemo_cluster(config, problem.cluster).first == 1;
  if (!is_one_node && engine.gpus_per_node != trainer.gpus_per_node)
    return "NeMo RL divides a cluster by whole nodes: generation and training have " +
           std::to_string(engine.gpus_per_node) + " and " + std::to_string(trainer.gpus_per_node) +
           " GPUs of a node";
  return "";
}

}  // namespace

Dialect nemo_rl_dtensor_dialect() {
  return {"nemo-rl",       "nemo-rl-dtensor", SettingForm::yaml, nemo_rl_rules,
          nemo_rl_refusal, write_nemo_rl,     read_nemo_rl};
}

Dialect nemo_rl_megatron_dialect() {
  return {"nemo-rl",       "nemo-rl-megatron", SettingForm::yaml, nemo_rl_rules,
          nemo_rl_refusal, write_nemo_rl,      read_nemo_rl};
}

}  // namespace sextant::inline reports
