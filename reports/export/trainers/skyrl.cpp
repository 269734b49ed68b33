// SkyRL's FSDP and Megatron trainers, main of 2026-08: overrides of its programs' configuration.
//
// Keys are those of skyrl/train/config/config.py, limits those of skyrl/train/utils/utils.py (validate_batch_sizes,
// validate_cfg) at a9564572eb8e91076be43c1bd5e4615e3de17265, github.com/NovaSky-AI/SkyRL. With colocate_all all models
// and the engines have the same GPUs, and weights leave them while other tasks run. Without it the policy and the
// reference share GPUs, and the engines and a critic have their own (skyrl/train/trainer.py). Megatron trains GRPO alone,
// with a section of keys for the policy and one for the reference.
#include <algorithm>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"

namespace sextant::inline reports {
namespace {

const std::string kSkyEngine = "generator.inference_engine.";
const std::string kSkyPlacement = "trainer.placement.";
const std::string kSkyPacking = "trainer.remove_microbatch_padding";
constexpr const char* kSkyPrecision = ".fsdp_config.mixed_precision.param_dtype";
constexpr const char* kSkyRollout = task_names::kActorGeneration;
constexpr const char* kSkyTrainer = task_names::kActorTraining;

std::string sky_role(const std::string& task) {
  if (task == task_names::kReferenceInference) return "ref";
  const bool is_critic = task == task_names::kCriticTraining || task == task_names::kCriticInference;
  return is_critic ? "critic" : "policy";
}

bool is_megatron(const FrameworkProfile& profile) { return profile.has_stages_outermost; }

std::string sky_megatron(const std::string& task) { return "trainer." + sky_role(task) + ".megatron_config."; }
std::string sky_transformer(const std::string& task, const char* member) {
  return sky_megatron(task) + "transformer_config_kwargs." + member;
}
std::string sky_optimizer(const std::string& task, const char* member) {
  return sky_megatron(task) + "optimizer_config_kwargs." + member;
}

const std::vector<std::string> kSkyCriticTasks{task_names::kCriticTraining, task_names::kCriticInference};

// All models and the engines on the same GPUs.
bool is_sky_colocated(const TrainerConfig& config) {
  return std::all_of(config.tasks.begin(), config.tasks.end(),
                     [&](const auto& named) { return named.second.pool == config.tasks.at(kSkyTrainer).pool; });
}

bool shares_with_engine(const Plan& plan) {
  const auto engine = plan.tasks.find(kSkyRollout), trainer = plan.tasks.find(kSkyTrainer);
  return engine != plan.tasks.end() && trainer != plan.tasks.end() &&
         engine->second.devices() == trainer->second.devices();
}

// ---- what the dialect cannot say apart ----

// Tensor parallelism always splits the sequence too, and the optimizer is always distributed (ZeRO 1).
void settle_sky_megatron(TaskPlan& task, TaskKind kind) {
  Execution& execution = task.execution;
  execution.sequence_parallel = true;
  execution.virtual_stages = 1;
  if (kind == TaskKind::training) execution.zero_stage = 1;
}

// Packing, recomputation and sizes of micro-batches are settings of all models.
std::string settle_sky(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  if (!workflow.has_task(kSkyTrainer)) return "";
  const Plan before = plan;
  if (is_megatron(profile)) split_sequences_of_experts(plan, workflow);
  const TaskPlan actor = plan.tasks.at(kSkyTrainer);
  const bool sleeps = shares_with_engine(plan);
  int pass_sequences = 0;
  for (const Task& task : workflow.tasks) {
    TaskPlan& one = plan.tasks.at(task.name);
    one.execution.offload_weights = sleeps;
    if (task.kind == TaskKind::generation) {
      // With adapters the FSDP trainer switches CUDA graphs on (skyrl/train/config/config.py, __post_init__).
      if (!is_megatron(profile) && actor.execution.lora_rank > 0) one.execution.cuda_graphs = true;
      fit_engine_experts(one);
      keep_experts_whole(one.tensor_parallel(one.replicas.front().stages.front()), one.execution);
      continue;
    }
    one.execution.packed = actor.execution.packed;
    if (is_megatron(profile)) {
      settle_sky_megatron(one, task.kind);
    } else if (task.kind == TaskKind::training && one.execution.lora_rank > 0) {
      one.execution.weight_precision = Precision::fp32;  // models are initialised in fp32
    }
    if (task.kind == TaskKind::training) {
      one.recompute = actor.recompute;
      one.micro_batch_sequences = actor.micro_batch_sequences;
    } else {
      if (pass_sequences == 0) pass_sequences = one.micro_batch_sequences;
      one.micro_batch_sequences = pass_sequences;
    }
  }
  return plan == before ? ""
                        : "All models pack their sequences, recompute and have micro-batches of one size, "
                          "their weights leave "
                          "the GPUs exactly where the engines share them, and a mixture's experts and "
                          "sequences are split as "
                          "the framework does it";
}

// ---- writing ----

void write_sky_data(const Workflow& workflow, const FrameworkProfile& profile, TrainerScript& script) {
  TrainerSettings& settings = script.settings;
  const bool is_ppo = workflow.has_task(task_names::kCriticTraining);
  settings.begin_group("Algorithm, data and batches");
  settings.set_shell("data.train_data", "['${TRAIN_FILE}']");
  settings.set_shell("data.val_data", "['${VAL_FILE}']");
  settings.set_shell("environment.env_class", "${ENVIRONMENT}");
  settings.set("trainer.strategy", is_megatron(profile) ? "megatron" : "fsdp");
  settings.set_shell("trainer.policy.model.path", "${MODEL_PATH}");
  if (is_ppo) settings.set_shell("trainer.critic.model.path", "${CRITIC_PATH}");
  settings.set("trainer.algorithm.advantage_estimator", is_ppo ? "gae" : "grpo");
  settings.set("trainer.algorithm.use_kl_loss", workflow.has_task(task_names::kReferenceInference));
  settings.set("trainer.train_batch_size", workflow.prompts);
  settings.set("trainer.policy_mini_batch_size", prompts_per_step(workflow));
  if (is_ppo) settings.set("trainer.critic_mini_batch_size", prompts_per_step(workflow));
  settings.set("trainer.update_epochs_per_batch", 1);
  settings.set("trainer.max_prompt_length", max_prompt_tokens(workflow));
  settings.set("generator.sampling_params.max_generate_length", max_response_tokens(workflow));
  settings.set("generator.n_samples_per_prompt", workflow.responses_per_prompt);
  if (workflow.mode == Mode::asynchronous) {
    settings.set("trainer.fully_async.enabled", true);
    const int age = std::max(1, static_cast<int>(workflow.staleness));
    settings.set("trainer.fully_async.max_staleness_steps", age);
    // The trainer refuses fewer groups than a batch and more than it may be ahead, and losses without the engine's
    // log-probabilities (skyrl/train/fully_async_trainer.py).
    settings.set("trainer.fully_async.num_parallel_generation_workers", workflow.prompts * (age + 1));
    settings.set("trainer.algorithm.policy_loss_type", "rollout_is");
  }
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  if (is_ppo)
    script.variables.push_back(model_variable("CRITIC_PATH", "the critic's model", workflow, "critic"));
  script.variables.push_back({"TRAIN_FILE", "prompts for training, a parquet file of SkyRL's form", ""});
  script.variables.push_back({"VAL_FILE", "prompts for validation, a parquet file of SkyRL's form", ""});
  script.variables.push_back({"ENVIRONMENT", "the environment that scores responses", "gsm8k"});
}

void write_sky_gpus(const TrainerConfig& config, const Workflow& workflow, TrainerSettings& settings) {
  settings.begin_group("GPUs");
  settings.set(kSkyPlacement + "colocate_all", is_sky_colocated(config));
  for (const char* name : {kSkyTrainer, task_names::kReferenceInference, task_names::kCriticTraining}) {
    if (!workflow.has_task(name)) continue;
    const GpuPool& pool = config.pool_of(name);
    settings.set(kSkyPlacement + sky_role(name) + "_num_nodes", pool.nodes);
    settings.set(kSkyPlacement + sky_role(name) + "_num_gpus_per_node", pool.gpus_per_node);
  }
}

void write_sky_engine(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(kSkyRollout);
  const Execution& execution = task.options.execution;
  settings.begin_group(kSkyRollout);
  settings.set(kSkyEngine + "backend", "vllm");
  const int replicas = attention_replicas(task);
  settings.set(kSkyEngine + "num_engines", task.data_parallel / replicas);
  settings.set(kSkyEngine + "tensor_parallel_size", task.tensor_parallel);
  if (execution.expert_parallel > 1) {
    settings.set(kSkyEngine + "data_parallel_size", replicas);
    settings.set(kSkyEngine + "expert_parallel_size", execution.expert_parallel);
  }
  settings.set(kSkyEngine + "gpu_memory_utilization", engine_fraction(kSkyRollout, config, problem));
  settings.set(kSkyEngine + "max_num_seqs", task.options.decode_batch_sequences);
  settings.set(kSkyEngine + "max_num_batched_tokens", execution.prefill_chunk_tokens);
  settings.set(kSkyEngine + "enable_prefix_caching", execution.shared_prompts);
  settings.set(kSkyEngine + "enforce_eager", !execution.cuda_graphs);
}

void write_sky_role(const std::string& task_name, const TrainerTask& task, TrainerSettings& settings) {
  const Execution& execution = task.options.execution;
  const std::string root = "trainer." + sky_role(task_name) + ".";
  settings.begin_group(task_name);
  settings.set(root + "sequence_parallel_size", execution.context_parallel);
  settings.set(root + "fsdp_config.fsdp_size", execution.sharded_over > 0 ? execution.sharded_over : -1);
  settings.set(root + "fsdp_config.cpu_offload", execution.offload_optimizer);
  if (root != "trainer.ref.") settings.set(root + "model.lora.rank", execution.lora_rank);
}

void write_sky_megatron(const std::string& task_name, const TrainerTask& task, TrainerSettings& settings) {
  const Execution& execution = task.options.execution;
  const std::string root = sky_megatron(task_name);
  settings.begin_group(task_name);
  write_megatron_degrees(root, task, settings);
  if (has_uneven_ends(task)) {
    settings.set(sky_transformer(task_name, "num_layers_in_first_pipeline_stage"), task.stage_layers.front());
    settings.set(sky_transformer(task_name, "num_layers_in_last_pipeline_stage"), task.stage_layers.back());
  }
  if (task_name != kSkyTrainer) return;
  if (task.options.recompute == Recompute::selective) {  // Megatron refuses both with it
    settings.set(sky_transformer(task_name, "recompute_method"), Json(nullptr));
    settings.set(sky_transformer(task_name, "recompute_num_layers"), Json(nullptr));
  }
  settings.set(sky_transformer(task_name, "recompute_granularity"),
               std::string(name_of(task.options.recompute == Recompute::selective ? Recompute::selective
                                                                                  : Recompute::full)));
  settings.set(sky_optimizer(task_name, "optimizer_cpu_offload"), execution.offload_optimizer);
  settings.set(sky_optimizer(task_name, "optimizer_offload_fraction"), execution.offload_optimizer ? 1.0 : 0.0);
  // The examples switch it on with an optimizer on the host.
  settings.set(sky_optimizer(task_name, "use_precision_aware_optimizer"), execution.offload_optimizer);
  settings.set("trainer.policy.model.lora.rank", execution.lora_rank);
}

void write_sky_trainers(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  const Workflow& workflow = problem.workflow;
  const TrainerTask& actor = config.tasks.at(kSkyTrainer);
  settings.begin_group("Training and passes of all models");
  settings.set(kSkyPacking, actor.options.execution.packed);
  settings.set("trainer.gradient_checkpointing", actor.options.recompute != Recompute::none);
  settings.set("trainer.micro_train_batch_size_per_gpu", actor.options.micro_batch_sequences);
  const auto pass = std::find_if(workflow.tasks.begin(), workflow.tasks.end(),
                                 [](const Task& task) { return task.kind == TaskKind::inference; });
  if (pass != workflow.tasks.end())
    settings.set("trainer.micro_forward_batch_size_per_gpu",
                 config.tasks.at(pass->name).options.micro_batch_sequences);
  for (const char* name : {kSkyTrainer, task_names::kReferenceInference, task_names::kCriticTraining}) {
    if (!workflow.has_task(name)) continue;
    (is_megatron(problem.profile) ? write_sky_megatron : write_sky_role)(name, config.tasks.at(name), settings);
  }
}

std::string sky_command(Mode mode) {
  if (mode == Mode::one_step_off) return "python3 -m examples.train.async.main_async";
  if (mode == Mode::asynchronous) return "python3 -m examples.train.fully_async.main_fully_async";
  return "python3 -m skyrl.train.entrypoints.main_base";
}

// FSDP computes in param_dtype; bf16 without the section (skyrl/backends/skyrl_train/distributed/fsdp_strategy.py).
void write_sky_precision(const Workflow& workflow, TrainerScript& script) {
  const std::string name = precision_to_state(workflow);
  if (name.empty()) return;
  script.settings.begin_group("Precision");
  for (const char* task : {kSkyTrainer, task_names::kReferenceInference, task_names::kCriticTraining}) {
    if (workflow.has_task(task))
      script.settings.set("trainer." + sky_role(task) + kSkyPrecision,
                          std::string(name_of(workflow.precision)));
  }
  script.settings.set(kSkyEngine + "model_dtype", name);
  script.states_precision = true;
}

TrainerScript write_skyrl(const TrainerConfig& config, const TrainerProblem& problem) {
  TrainerScript script;
  const Workflow& workflow = problem.workflow;
  write_sky_data(workflow, problem.profile, script);
  write_sky_gpus(config, workflow, script.settings);
  write_sky_engine(config, problem, script.settings);
  write_sky_trainers(config, problem, script.settings);
  if (!is_megatron(problem.profile)) write_sky_precision(workflow, script);
  script.settings.begin_group("Logs");
  script.settings.set("trainer.logger", "console");
  script.settings.set("trainer.project_name", "sextant");
  script.settings.set("trainer.run_name", run_name(config.plan, problem));
  if (!workflow.has_task(task_names::kOldLogProb))
    script.notes.emplace_back(
        "SkyRL computes the actor's log-probabilities before training; the workflow has no such pass.");
  script.notes.emplace_back("Run it in a checkout of SkyRL, " + problem.profile.version + ".");
  script.command = sky_command(workflow.mode);
  return script;
}

// ---- reading ----

void read_sky_engine(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const std::string name = kSkyRollout;
  TrainerTask& task = config.tasks.at(name);
  Execution& execution = task.options.execution;
  task.tensor_parallel = settings.count(kSkyEngine + "tensor_parallel_size", 1);
  execution.expert_parallel = settings.count(kSkyEngine + "expert_parallel_size", 1);
  if (execution.expert_parallel > 1) execution.expert_tensor_parallel = 1;
  task.options.decode_batch_sequences = settings.count(kSkyEngine + "max_num_seqs", 1024);
  execution.prefill_chunk_tokens = settings.count(kSkyEngine + "max_num_batched_tokens", 8192);
  execution.shared_prompts = settings.flag(kSkyEngine + "enable_prefix_caching", true);
  execution.cuda_graphs = !settings.flag(kSkyEngine + "enforce_eager", false);
  execution.offload_weights = skyrl_gpus(settings).is_colocated;
  complete_layout(name, problem, 0, 0, config);
  constexpr double kDefaultFraction = 0.8;
  take_engine_fraction(settings.number(kSkyEngine + "gpu_memory_utilization", kDefaultFraction), name, problem,
                       config);
}

void read_sky_megatron(const Task& named, const TrainerSettings& settings, const TrainerProblem& problem,
                       TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(named.name);
  Execution& execution = task.options.execution;
  const std::string root = sky_megatron(named.name);
  read_megatron_degrees(settings, root, task);
  execution.sequence_parallel = true;
  if (named.kind == TaskKind::training) {
    const double offloaded = settings.number(sky_optimizer(named.name, "optimizer_offload_fraction"), 0);
    execution.offload_optimizer =
        settings.flag(sky_optimizer(named.name, "optimizer_cpu_offload"), false) && offloaded > 0;
    const std::string granularity = settings.text(sky_transformer(named.name, "recompute_granularity"), "full");
    task.options.recompute = !settings.flag("trainer.gradient_checkpointing", true) ? Recompute::none
                             : granularity == "selective"                           ? Recompute::selective
                                                                                    : Recompute::full;
  }
  const auto layers = [&](const char* end) { return settings.integer(sky_transformer(named.name, end), 0); };
  complete_layout(named.name, problem, layers("num_layers_in_first_pipeline_stage"),
                  layers("num_layers_in_last_pipeline_stage"), config);
}

void read_sky_trainer(const Task& named, const TrainerSettings& settings, const TrainerProblem& problem,
                      TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(named.name);
  Execution& execution = task.options.execution;
  const std::string root = "trainer." + sky_role(named.name) + ".";
  const bool trains = named.kind == TaskKind::training, is_colocated = skyrl_gpus(settings).is_colocated;
  execution.packed = settings.flag(kSkyPacking, true);
  execution.micro_batch_tokens = 0;
  task.options.micro_batch_sequences = settings.count(
      trains ? "trainer.micro_train_batch_size_per_gpu" : "trainer.micro_forward_batch_size_per_gpu", 1);
  if (trains) execution.lora_rank = settings.integer(root + "model.lora.rank", 0);
  if (execution.lora_rank > 0)
    execution.weight_precision = Precision::fp32;  // its models are initialised in fp32
  if (is_megatron(problem.profile)) {
    execution.offload_weights = is_colocated;
    read_sky_megatron(named, settings, problem, config);
    return;
  }
  execution.context_parallel = settings.count(root + "sequence_parallel_size", 1);
  execution.sharded_over = std::max(0, settings.integer(root + "fsdp_config.fsdp_size", -1));
  const bool is_on_host = settings.flag(root + "fsdp_config.cpu_offload", false);
  execution.offload_weights = is_colocated || (root == "trainer.ref." && is_on_host);
  if (trains) {
    execution.offload_optimizer = is_on_host;
    task.options.recompute =
        settings.flag("trainer.gradient_checkpointing", true) ? Recompute::full : Recompute::none;
  }
  complete_layout(named.name, problem, 0, 0, config);
  if (execution.sharded_over >= task.data_parallel * execution.context_parallel) execution.sharded_over = 0;
}

void read_skyrl(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const SkyrlGpus gpus = skyrl_gpus(settings);
  const int trainer =
      take_pool("trainer", gpus.policy_nodes, gpus.policy_gpus_per_node, problem.cluster, config);
  for (auto& [name, task] : config.tasks) task.pool = trainer;
  if (!gpus.is_colocated) {
    config.tasks.at(kSkyRollout).pool = take_pool("rollout", 1, gpus.engine_gpus, problem.cluster, config);
    if (problem.workflow.has_task(task_names::kCriticTraining)) {
      const int critic = take_pool(pool_name(kSkyCriticTasks, problem.workflow), gpus.critic_nodes,
                                   gpus.critic_gpus_per_node, problem.cluster, config);
      for (const std::string& name : kSkyCriticTasks) config.tasks.at(name).pool = critic;
    }
  }
  read_sky_engine(settings, problem, config);
  for (const Task& task : problem.workflow.tasks) {
    if (task.kind != TaskKind::generation) read_sky_trainer(task, settings, problem, config);
  }
}

DialectRules sky_rules(const FrameworkProfile& profile) {
  DialectRules rules;
  rules.settle = settle_sky;
  rules.more_options = {"inference.packed", "generation.offload_weights", "inference.offload_weights",
                        "training.offload_weights", "generation.expert_tensor_parallel"};
  if (is_megatron(profile))
    rules.more_options.insert(rules.more_options.end(),
                              {"training.sequence_parallel", "inference.sequence_parallel",
                               "training.zero_stage", "inference.stages"});
  return rules;
}

// Each data-parallel rank has whole micro-batches of an optimizer step.
std::string uneven_sky_batches(const TrainerConfig& config, const Workflow& workflow) {
  for (const char* name : {kSkyTrainer, task_names::kCriticTraining}) {
    const auto task = config.tasks.find(name);
    if (task == config.tasks.end()) continue;
    std::string refusal =
        uneven_refusal("SkyRL", sequences_per_step(workflow), "sequences of an optimizer step",
                       task->second.data_parallel * task->second.options.micro_batch_sequences,
                       replicas_and_micro_batches(name, task->second));
    if (!refusal.empty()) return refusal;
  }
  return "";
}

std::string skyrl_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  if (!config.tasks.contains(kSkyTrainer) || !config.tasks.contains(kSkyRollout))
    return "SkyRL runs PPO and GRPO; the workflow has no generation or no training of an actor";
  if (const int rank = config.tasks.at(kSkyTrainer).options.execution.lora_rank; !is_vllm_rank(rank))
    return vllm_rank_refusal(rank);
  if (is_megatron(problem.profile) && config.tasks.contains(task_names::kCriticTraining))
    return "SkyRL's Megatron trainer has no critic";
  if (config.tasks.contains(task_names::kRewardInference))
    return "SkyRL's environments score responses; the workflow has a reward model";
  if (problem.workflow.prompts % problem.workflow.mini_batches != 0)
    return "SkyRL refuses optimizer steps that do not divide the prompts of a batch";
  // skyrl/train/fully_async_trainer.py
  if (problem.workflow.mode == Mode::asynchronous && problem.workflow.mini_batches > 1)
    return "SkyRL's fully asynchronous trainer takes one optimizer step for a batch; the workflow has " +
           std::to_string(problem.workflow.mini_batches);
  if (!is_sky_colocated(config)) {
    const auto pool = [&](const char* task) {
      const auto found = config.tasks.find(task);
      return found == config.tasks.end() ? -1 : found->second.pool;
    };
    const int engine = pool(kSkyRollout), trainer = pool(kSkyTrainer),
              critic = pool(task_names::kCriticTraining), reference = pool(task_names::kReferenceInference);
    if (engine == trainer || engine == critic || trainer == critic || (reference >= 0 && reference != trainer))
      return "SkyRL lets all models and engines share GPUs, or the policy and the reference alone; the plan "
             "lets "
             "others share them";
  }
  return uneven_sky_batches(config, problem.workflow);
}

}  // namespace

SkyrlGpus skyrl_gpus(const TrainerSettings& settings) {
  double engines = 1;
  for (const char* name :
       {"num_engines", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"})
    engines *= settings.count(kSkyEngine + name, 1, TrainerSettings::kMaxNodes);
  const auto nodes = [&](const char* role) {
    return settings.count(kSkyPlacement + role + "_num_nodes", 1, TrainerSettings::kMaxNodes);
  };
  const auto gpus_per_node = [&](const char* role) {
    return settings.count(kSkyPlacement + role + "_num_gpus_per_node", 1, TrainerSettings::kMaxGpusPerNode);
  };
  return {settings.flag(kSkyPlacement + "colocate_all", true),
          nodes("policy"),
          gpus_per_node("policy"),
          nodes("critic"),
          gpus_per_node("critic"),
          static_cast<int>(std::min<double>(engines, TrainerSettings::kMaxNodes))};
}

Dialect skyrl_dialect() {
  return {"skyrl", "skyrl", SettingForm::hydra, sky_rules, skyrl_refusal, write_skyrl, read_skyrl};
}

Dialect skyrl_megatron_dialect() {
  return {"skyrl", "skyrl-megatron", SettingForm::hydra, sky_rules, skyrl_refusal, write_skyrl, read_skyrl};
}

}  // namespace sextant::inline reports
