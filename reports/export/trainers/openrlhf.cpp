// OpenRLHF 0.11.0: flags of openrlhf/cli/train_ppo_ray.py.
#include <algorithm>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

// A model with GPUs of its own, or shared ones, and its tasks.
struct RayRole {
  std::string name;  // "actor"
  std::vector<std::string> tasks;
};

const std::vector<RayRole>& ray_roles() {
  static const std::vector<RayRole> roles{
      {"actor", {task_names::kActorTraining, task_names::kOldLogProb}},
      {"ref", {task_names::kReferenceInference}},
      {"critic", {task_names::kCriticTraining, task_names::kCriticInference}},
      {"reward", {task_names::kRewardInference}},
  };
  return roles;
}

// The pool of a role; -1: the workflow has no such model.
int pool_of_role(const std::string& role, const TrainerConfig& config) {
  for (const RayRole& one : ray_roles()) {
    if (one.name != role) continue;
    for (const std::string& task : one.tasks) {
      if (config.tasks.contains(task)) return config.tasks.at(task).pool;
    }
  }
  return -1;
}

bool is_shared(const std::string& a, const std::string& b, const TrainerConfig& config) {
  const int first = pool_of_role(a, config), second = pool_of_role(b, config);
  return first >= 0 && first == second;
}

// True if all models that exist, and the engine unless training is asynchronous, have one pool.
bool shares_all(const TrainerConfig& config, Mode mode) {
  return std::all_of(config.tasks.begin(), config.tasks.end(), [&](const auto& named) {
    return (mode != Mode::synchronous && named.first == task_names::kActorGeneration) ||
           named.second.pool == config.tasks.at(task_names::kActorTraining).pool;
  });
}

// Batches are packed if micro-batches have a budget of tokens or the sequences are split, and micro-batches of the
// passes without gradients are counted as those of training.
std::string settle_openrlhf(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  if (!workflow.has_task(task_names::kActorTraining)) return "";
  const Plan before = plan;
  const TaskPlan actor = plan.tasks.at(task_names::kActorTraining);
  const bool counts_tokens = actor.execution.micro_batch_tokens > 0;
  const TaskPlan usual = default_options(profile, TaskKind::inference);
  for (const Task& task : workflow.tasks) {
    if (task.kind == TaskKind::generation) continue;
    TaskPlan& one = plan.tasks.at(task.name);
    one.execution.packed = actor.execution.packed || counts_tokens || actor.execution.context_parallel > 1;
    if (task.kind != TaskKind::inference) continue;
    if (!counts_tokens) {
      one.execution.micro_batch_tokens = 0;
    } else if (one.execution.micro_batch_tokens == 0) {
      one.execution.micro_batch_tokens = actor.execution.micro_batch_tokens;
      one.micro_batch_sequences = usual.micro_batch_sequences;
    }
  }
  return plan == before ? "" : "All models pack their sequences or none, and count micro-batches in one unit";
}

void write_roles(const TrainerConfig& config, const Workflow& workflow, TrainerSettings& settings) {
  settings.begin_group("GPUs");
  for (const RayRole& role : ray_roles()) {
    const int number = pool_of_role(role.name, config);
    if (number < 0) continue;
    const GpuPool& pool = config.pools[static_cast<std::size_t>(number)];
    settings.set(role.name + ".num_nodes", pool.nodes);
    settings.set(role.name + ".num_gpus_per_node", pool.gpus_per_node);
  }
  const bool is_one = shares_all(config, workflow.mode);
  settings.set("train.colocate_all", is_one);
  settings.set("train.colocate_actor_ref", !is_one && is_shared("actor", "ref", config));
  settings.set("train.colocate_critic_reward", !is_one && is_shared("critic", "reward", config));
}

void write_ray_engine(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(task_names::kActorGeneration);
  settings.begin_group(task_names::kActorGeneration);
  settings.set("vllm.num_engines", task.data_parallel);
  settings.set("vllm.tensor_parallel_size", task.tensor_parallel);
  settings.set("vllm.gpu_memory_utilization", engine_fraction(task_names::kActorGeneration, config, problem));
  settings.set("vllm.enable_prefix_caching", task.options.execution.shared_prompts);
  settings.set("vllm.enforce_eager", !task.options.execution.cuda_graphs);
  settings.set("vllm.enable_sleep", task.options.execution.offload_weights);
  settings.set("vllm.sync_backend", "nccl");
}

void write_deepspeed(const TrainerConfig& config, const Workflow& workflow, TrainerSettings& settings) {
  const TrainerTask& actor = config.tasks.at(task_names::kActorTraining);
  const Execution& execution = actor.options.execution;
  settings.begin_group("Training and passes of all models");
  settings.set("ds.zero_stage", execution.zero_stage);
  settings.set("ds.tensor_parallel_size", actor.tensor_parallel);
  settings.set("ds.ring_attn_size", execution.context_parallel);
  settings.set("ds.packing_samples", execution.packed);
  settings.set("ds.adam_offload", execution.offload_optimizer);
  settings.set("ds.enable_sleep", execution.offload_weights);
  settings.set("ds.lora.rank", execution.lora_rank);
  settings.set("actor.gradient_checkpointing_enable", actor.options.recompute == Recompute::full);
  const bool counts_tokens = execution.micro_batch_tokens > 0;
  settings.set("train.dynamic_batch_enable", counts_tokens);
  if (counts_tokens) {
    settings.set("train.max_tokens_per_gpu", execution.micro_batch_tokens);
  } else {
    settings.set("train.micro_batch_size", actor.options.micro_batch_sequences);
  }
  const auto pass = std::find_if(workflow.tasks.begin(), workflow.tasks.end(),
                                 [](const Task& task) { return task.kind == TaskKind::inference; });
  if (pass != workflow.tasks.end()) {
    const TaskPlan& options = config.tasks.at(pass->name).options;
    if (counts_tokens) {
      settings.set("rollout.max_tokens_per_gpu", options.execution.micro_batch_tokens);
    } else {
      settings.set("rollout.micro_batch_size", options.micro_batch_sequences);
    }
  }
  const auto offload = [&](const char* key, const char* task) {
    if (workflow.has_task(task)) settings.set(key, config.tasks.at(task).options.execution.offload_weights);
  };
  offload("ref.offload", task_names::kReferenceInference);
  offload("reward.offload", task_names::kRewardInference);
}

void write_ray_mode(const Workflow& workflow, TrainerSettings& settings) {
  if (workflow.mode == Mode::synchronous) return;
  settings.set("train.async_enable", true);
  settings.set("train.async_queue_size", std::max(1, static_cast<int>(workflow.staleness)));
  settings.set("train.partial_rollout_enable", workflow.rollout.is_interrupted);
}

void write_ray_batches(const Workflow& workflow, TrainerSettings& settings) {
  settings.begin_group("Algorithm, data and batches");
  const bool is_ppo = workflow.has_task(task_names::kCriticTraining);
  const bool has_reference = workflow.has_task(task_names::kReferenceInference);
  settings.set("algo.advantage.estimator", is_ppo ? "gae" : "group_norm");
  if (!has_reference) settings.set("algo.kl.init_coef", 0.0);
  settings.set("algo.kl.use_loss", has_reference && !is_ppo);
  if (has_reference && !is_ppo) settings.set("algo.kl.estimator", "k3");
  settings.set("rollout.batch_size", workflow.prompts);
  settings.set("rollout.n_samples_per_prompt", workflow.responses_per_prompt);
  settings.set("train.batch_size", prompts_per_step(workflow) * workflow.responses_per_prompt);
  settings.set("data.max_len", max_prompt_tokens(workflow) + max_response_tokens(workflow));
  settings.set("rollout.max_new_tokens", max_response_tokens(workflow));
  write_ray_mode(workflow, settings);
}

void add_ray_models(const Workflow& workflow, TrainerScript& script) {
  TrainerSettings& settings = script.settings;
  settings.begin_group("Models and data");
  const auto model = [&](const char* flag, const char* variable, const char* role, const char* name) {
    settings.set_shell(flag, "${" + std::string(variable) + "}");
    script.variables.push_back(model_variable(variable, role, workflow, name));
  };
  model("actor.model_name_or_path", "MODEL_PATH", "the model", "actor");
  if (workflow.has_task(task_names::kCriticTraining))
    model("critic.model_name_or_path", "CRITIC_PATH", "the critic's model", "critic");
  if (workflow.has_task(task_names::kRewardInference)) {
    model("reward.model_name_or_path", "REWARD_MODEL_PATH", "the reward model", "reward");
  } else {
    settings.set_shell("reward.remote_url", "${REWARD_FUNCTION}");
    script.variables.push_back(
        {"REWARD_FUNCTION", "a Python file with reward_func, or the URL of a reward server", ""});
  }
  settings.set_shell("data.prompt_dataset", "${TRAIN_FILE}");
  settings.set_shell("data.input_key", "${INPUT_KEY}");
  settings.set_shell("ckpt.output_dir", "${OUTPUT_DIR}");
  script.variables.push_back({"TRAIN_FILE", "prompts for training: a file, or a data set of Hugging Face", ""});
  script.variables.push_back({"INPUT_KEY", "the column of the prompts", "input"});
  script.variables.push_back({"OUTPUT_DIR", "where the trained model is written", "./ckpt"});
}

TrainerScript write_openrlhf(const TrainerConfig& config, const TrainerProblem& problem) {
  TrainerScript script;
  write_ray_batches(problem.workflow, script.settings);
  write_roles(config, problem.workflow, script.settings);
  write_ray_engine(config, problem, script.settings);
  write_deepspeed(config, problem.workflow, script.settings);
  add_ray_models(problem.workflow, script);
  script.settings.set("logger.wandb.run_name", run_name(config.plan, problem));
  script.variables.push_back({"RAY_ADDRESS", "the dashboard of the Ray cluster", "http://127.0.0.1:8265"});
  script.notes.emplace_back("vLLM's limits of sequences and prefill tokens are its own defaults.");
  if (!problem.workflow.has_task(task_names::kOldLogProb))
    script.notes.emplace_back(
        "OpenRLHF computes the actor's log-probabilities before training; the workflow has no such "
        "pass.");
  note_uneven_steps(problem.workflow, script);
  script.command = "ray job submit --address=\"$RAY_ADDRESS\" -- python3 -m openrlhf.cli.train_ppo_ray";
  return script;
}

void read_roles(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const Workflow& workflow = problem.workflow;
  const bool is_one = settings.flag("train.colocate_all", false);
  const bool is_sync = workflow.mode == Mode::synchronous;
  const auto joined = [&](const std::string& role) -> std::string {  // the role whose GPUs it uses
    if (is_one) return "actor";
    if (role == "ref" && settings.flag("train.colocate_actor_ref", false)) return "actor";
    return role == "reward" && settings.flag("train.colocate_critic_reward", false) ? "critic" : role;
  };
  for (const RayRole& owner : ray_roles()) {
    std::vector<std::string> tasks;
    for (const RayRole& role : ray_roles()) {
      if (joined(role.name) != owner.name) continue;
      for (const std::string& task : role.tasks) {
        if (workflow.has_task(task)) tasks.push_back(task);
      }
    }
    if (tasks.empty()) continue;
    if (is_one && is_sync) tasks.emplace_back(task_names::kActorGeneration);
    constexpr int kDefaultGpus = 8;
    const int pool = take_pool(
        pool_name(tasks, workflow), settings.count(owner.name + ".num_nodes", 1, TrainerSettings::kMaxNodes),
        settings.count(owner.name + ".num_gpus_per_node", kDefaultGpus, TrainerSettings::kMaxGpusPerNode),
        problem.cluster, config);
    for (const std::string& task : tasks) config.tasks.at(task).pool = pool;
  }
  if (is_one && is_sync) return;
  const int gpus = settings.count("vllm.num_engines", 1, TrainerSettings::kMaxNodes) *
                   settings.count("vllm.tensor_parallel_size", 1, TrainerSettings::kMaxGpusPerNode);
  config.tasks.at(task_names::kActorGeneration).pool = take_pool("rollout", 1, gpus, problem.cluster, config);
}

void read_deepspeed(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const bool counts_tokens = settings.flag("train.dynamic_batch_enable", false);
  const int zero_stage = settings.integer("ds.zero_stage", 2);
  if (zero_stage < 0 || zero_stage > 3)
    throw_bad_input(settings.place_of("ds.zero_stage") + ": expected an integer from 0 to 3, got " +
                    std::to_string(zero_stage));
  constexpr int kDefaultTokens = 16192;
  const int tokens = settings.count("train.max_tokens_per_gpu", kDefaultTokens);
  for (const Task& named : problem.workflow.tasks) {
    if (named.kind == TaskKind::generation) continue;
    TrainerTask& task = config.tasks.at(named.name);
    Execution& execution = task.options.execution;
    execution.context_parallel = settings.count("ds.ring_attn_size", 1);
    execution.packed = settings.flag("ds.packing_samples", false);
    const bool trains = named.kind == TaskKind::training;
    execution.micro_batch_tokens = !counts_tokens ? 0
                                   : trains       ? tokens
                                                  : settings.count("rollout.max_tokens_per_gpu", tokens);
    if (!counts_tokens)
      task.options.micro_batch_sequences =
          settings.count(trains ? "train.micro_batch_size" : "rollout.micro_batch_size", 1);
    if (trains) {
      task.tensor_parallel = settings.count("ds.tensor_parallel_size", 1);
      execution.zero_stage = zero_stage;
      execution.offload_optimizer = settings.flag("ds.adam_offload", false);
      execution.offload_weights = settings.flag("ds.enable_sleep", false);
      execution.lora_rank = settings.integer("ds.lora.rank", 0);
      task.options.recompute =
          settings.flag("actor.gradient_checkpointing_enable", false) ? Recompute::full : Recompute::none;
    } else {
      execution.zero_stage = zero_stage == 3 ? 3 : execution.zero_stage;
      if (named.name == task_names::kReferenceInference)
        execution.offload_weights = settings.flag("ref.offload", false);
      if (named.name == task_names::kRewardInference)
        execution.offload_weights = settings.flag("reward.offload", false);
    }
    complete_layout(named.name, problem, 0, 0, config);
  }
}

void read_openrlhf(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  read_roles(settings, problem, config);
  const std::string name = task_names::kActorGeneration;
  TrainerTask& engine = config.tasks.at(name);
  engine.tensor_parallel = settings.count("vllm.tensor_parallel_size", 1);
  engine.options.execution.shared_prompts = settings.flag("vllm.enable_prefix_caching", false);
  engine.options.execution.cuda_graphs = !settings.flag("vllm.enforce_eager", false);
  engine.options.execution.offload_weights = settings.flag("vllm.enable_sleep", false);
  complete_layout(name, problem, 0, 0, config);
  constexpr double kDefaultFraction = 0.95;
  take_engine_fraction(settings.number("vllm.gpu_memory_utilization", kDefaultFraction), name, problem, config);
  read_deepspeed(settings, problem, config);
}

DialectRules openrlhf_rules(const FrameworkProfile& profile) {
  static_cast<void>(profile);
  DialectRules rules;
  rules.more_options = {"inference.packed"};
  rules.settle = settle_openrlhf;
  return rules;
}

std::string openrlhf_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  const Workflow& workflow = problem.workflow;
  if (!config.tasks.contains(task_names::kActorTraining) ||
      !config.tasks.contains(task_names::kActorGeneration))
    return "OpenRLHF runs PPO and GRPO; the workflow has no generation or no training of an actor";
  if (!workflow.has_task(task_names::kCriticTraining) && workflow.responses_per_prompt < 2)
    return "OpenRLHF compares the responses to a prompt if there is no critic and refuses one alone; the "
           "workflow "
           "has one";
  if (shares_all(config, workflow.mode)) return "";
  const bool has_other_pairs = is_shared("actor", "critic", config) || is_shared("actor", "reward", config) ||
                               is_shared("ref", "critic", config) || is_shared("ref", "reward", config);
  const int engine = config.tasks.at(task_names::kActorGeneration).pool;
  const bool shares_engine = std::any_of(ray_roles().begin(), ray_roles().end(), [&](const RayRole& role) {
    return pool_of_role(role.name, config) == engine;
  });
  if (has_other_pairs || shares_engine)
    return "OpenRLHF lets all models share GPUs, or the actor with the reference and the critic with the "
           "reward model; "
           "the plan lets others share them";
  return "";
}

}  // namespace

Dialect openrlhf_dialect() {
  return {"openrlhf",       "openrlhf",     SettingForm::flags, openrlhf_rules,
          openrlhf_refusal, write_openrlhf, read_openrlhf};
}

}  // namespace sextant::inline reports
