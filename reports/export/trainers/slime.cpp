// slime 0.3.1: flags of train.py and train_async.py, which are slime's own (slime/utils/arguments.py), Megatron's,
// and SGLang's with "sglang-" before them. miles 0.1.0, a fork of slime, has the same with a few of its own
// (miles/utils/arguments.py).
#include <algorithm>
#include <cmath>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kSlimeEngine = task_names::kActorGeneration;
constexpr const char* kSlimeTrainer = task_names::kActorTraining;
constexpr int kSlimeNode = 8;  // GPUs of a node where no flag says otherwise

bool is_miles(const TrainerProblem& problem) { return problem.profile.family == "miles"; }

bool is_one_slime_pool(const TrainerConfig& config) {
  return config.tasks.at(kSlimeEngine).pool == config.tasks.at(kSlimeTrainer).pool;
}

// ---- what the dialect cannot say apart ----

// SGLang distributes experts over all GPUs of an engine, tp_size of them, which ep_size divides (srt/server_args.py).
void split_engine_experts(int gpus, TrainerTask& engine) {
  Execution& execution = engine.options.execution;
  if (gpus % execution.expert_parallel != 0 || gpus % engine.tensor_parallel != 0) {
    gpus = engine.tensor_parallel;
    execution.expert_parallel = gpus;
  }
  const bool is_split = execution.expert_parallel > 1 || gpus > engine.tensor_parallel;
  execution.expert_tensor_parallel = is_split ? gpus / execution.expert_parallel : 0;
}

// A trainer beside a critic leaves the GPUs, and passes count micro-batches as the trainer does.
std::string settle_slime(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  if (!workflow.has_task(kSlimeTrainer)) return "";
  const Plan before = plan;
  split_sequences_of_experts(plan, workflow);
  keep_chunks_whole(plan);
  const TaskPlan actor = plan.tasks.at(kSlimeTrainer);
  const bool counts_tokens = actor.execution.micro_batch_tokens > 0;
  const TaskPlan usual = default_options(profile, TaskKind::inference);
  for (const Task& task : workflow.tasks) {
    TaskPlan& planned = plan.tasks.at(task.name);
    if (task.kind == TaskKind::generation) {
      fit_engine_experts(planned);
      TrainerTask engine;
      engine.tensor_parallel = planned.tensor_parallel(planned.replicas.front().stages.front());
      engine.options.execution = planned.execution;
      split_engine_experts(engine_width(engine), engine);
      planned.execution = engine.options.execution;
      continue;
    }
    if (workflow.has_task(task_names::kCriticTraining)) planned.execution.offload_weights = true;
    if (task.name == task_names::kCriticTraining) planned.execution.lora_rank = 0;  // adapters are the actor's
    if (task.kind != TaskKind::inference) continue;
    if (!counts_tokens) {
      planned.execution.micro_batch_tokens = 0;
      planned.micro_batch_sequences = actor.micro_batch_sequences;
    } else if (planned.execution.micro_batch_tokens == 0) {
      planned.execution.micro_batch_tokens = actor.execution.micro_batch_tokens;
      planned.micro_batch_sequences = usual.micro_batch_sequences;
    }
  }
  return plan == before
             ? ""
             : "Actor, critic and reference have one set of Megatron's options: micro-batches have one "
               "unit, and weights leave the GPUs if there is a critic; engines split experts over the GPUs "
               "that "
               "expert parallelism leaves; sequences of mixtures are split over tensor parallelism; virtual "
               "stages divide the layers of a stage";
}

// ---- writing ----

void write_slime_megatron(const TrainerConfig& config, TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(kSlimeTrainer);
  const Execution& execution = task.options.execution;
  settings.begin_group("Training and passes of all models");
  settings.set("tensor-model-parallel-size", task.tensor_parallel);
  settings.set("sequence-parallel", execution.sequence_parallel && task.tensor_parallel > 1);
  settings.set("pipeline-model-parallel-size", task.pipeline_parallel);
  settings.set("context-parallel-size", execution.context_parallel);
  settings.set("expert-model-parallel-size", execution.expert_parallel);
  settings.set("expert-tensor-parallel-size", std::max(1, execution.expert_tensor_parallel));
  if (has_uneven_ends(task)) {
    settings.set("decoder-first-pipeline-num-layers", task.stage_layers.front());
    settings.set("decoder-last-pipeline-num-layers", task.stage_layers.back());
  }
  if (execution.virtual_stages > 1)
    settings.set("num-virtual-stages-per-pipeline-rank", execution.virtual_stages);
  // Megatron's default for both dropouts is 0.1, with which no two passes would give the same log-probabilities.
  settings.set("attention-dropout", 0.0);
  settings.set("hidden-dropout", 0.0);
  settings.set("optimizer-cpu-offload", execution.offload_optimizer);
  // Megatron refuses optimizers on the host without the first of these flags (megatron/training/arguments.py).
  settings.set("use-precision-aware-optimizer", execution.offload_optimizer);
  settings.set("overlap-cpu-optimizer-d2h-h2d", execution.offload_optimizer);
  if (task.options.recompute == Recompute::none) return;
  settings.set("recompute-granularity", std::string(name_of(task.options.recompute)));
  if (task.options.recompute != Recompute::full) return;
  settings.set("recompute-method", "uniform");
  settings.set("recompute-num-layers", 1);
}

// miles needs the modules and Megatron-Bridge for adapters (miles/utils/arguments.py, backends/megatron_utils/model.py).
void write_miles_adapters(const TrainerConfig& config, TrainerSettings& settings) {
  const int rank = config.tasks.at(kSlimeTrainer).options.execution.lora_rank;
  if (rank == 0) return;
  settings.set("lora-rank", rank);
  settings.set("target-modules", "all-linear");
  settings.set("megatron-to-hf-mode", "bridge");
}

void write_slime_batches(const TrainerConfig& config, const Workflow& workflow, TrainerSettings& settings) {
  const TaskPlan& actor = config.tasks.at(kSlimeTrainer).options;
  const bool counts_tokens = actor.execution.micro_batch_tokens > 0;
  settings.set("use-dynamic-batch-size", counts_tokens);
  if (!counts_tokens) {
    settings.set("micro-batch-size", actor.micro_batch_sequences);
    return;
  }
  settings.set("max-tokens-per-gpu", actor.execution.micro_batch_tokens);
  const auto pass = std::find_if(workflow.tasks.begin(), workflow.tasks.end(),
                                 [](const Task& task) { return task.kind == TaskKind::inference; });
  if (pass != workflow.tasks.end())
    settings.set("log-probs-max-tokens-per-gpu",
                 config.tasks.at(pass->name).options.execution.micro_batch_tokens);
}

// Offloading is on by default if trainer and engine share GPUs, and off otherwise.
void write_slime_switch(const char* name, bool is_on, bool is_on_by_default, TrainerSettings& settings) {
  if (is_on == is_on_by_default) return;
  settings.set(is_on ? name : "no-" + std::string(name), true);
}

void write_slime_gpus(const TrainerConfig& config, const Workflow& workflow, TrainerSettings& settings) {
  const GpuPool& trainer = config.pool_of(kSlimeTrainer);
  const bool is_one = is_one_slime_pool(config);
  settings.begin_group("GPUs");
  settings.set("actor-num-nodes", trainer.nodes);
  settings.set("actor-num-gpus-per-node", trainer.gpus_per_node);
  settings.set("colocate", is_one);
  const GpuPool& engine = config.pool_of(kSlimeEngine);
  settings.set("rollout-num-gpus", engine.gpus());
  // slime splits an engine over nodes by this number (slime/ray/rollout.py, ServerGroup), whatever nodes there are.
  if (engine.gpus_per_node != kSlimeNode) settings.set("num-gpus-per-node", engine.gpus_per_node);
  const bool is_on_by_default = is_one || workflow.has_task(task_names::kCriticTraining);
  write_slime_switch("offload-train", config.tasks.at(kSlimeTrainer).options.execution.offload_weights,
                     is_on_by_default, settings);
  write_slime_switch("offload-rollout", config.tasks.at(kSlimeEngine).options.execution.offload_weights, is_one,
                     settings);
}

void write_slime_engine(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(kSlimeEngine);
  const Execution& execution = task.options.execution;
  settings.begin_group(kSlimeEngine);
  const int replicas = attention_replicas(task);
  settings.set("rollout-num-gpus-per-engine", engine_width(task) * task.pipeline_parallel);
  if (task.pipeline_parallel > 1) settings.set("sglang-pp-size", task.pipeline_parallel);
  if (execution.expert_parallel > 1) settings.set("sglang-ep-size", execution.expert_parallel);
  if (replicas > 1) {
    settings.set("sglang-enable-dp-attention", true);
    settings.set("sglang-dp-size", replicas);
    settings.set("sglang-moe-dense-tp-size", 1);
  }
  const double fraction = engine_fraction(kSlimeEngine, config, problem) - kEngineWorkspaceFraction;
  constexpr double kDigits = 1000;
  settings.set("sglang-mem-fraction-static", std::round(fraction * kDigits) / kDigits);
  // SGLang divides both among the replicas of an engine's attention.
  settings.set("sglang-server-concurrency", task.options.decode_batch_sequences * replicas);
  settings.set("sglang-chunked-prefill-size", execution.prefill_chunk_tokens * replicas);
}

// How generation goes on while the trainer works. miles names the rollout by a flag, which partial rollouts exclude
// (miles/utils/arguments.py, _resolve_rollout_functions).
void write_slime_mode(const TrainerProblem& problem, TrainerSettings& settings) {
  const Workflow& workflow = problem.workflow;
  const bool is_full = workflow.mode == Mode::asynchronous;
  if (is_full && is_miles(problem)) {
    settings.set("fully-async", true);
    settings.set("max-weight-staleness", std::max(1, static_cast<int>(workflow.staleness)));
    return;
  }
  if (is_full)
    settings.set("rollout-function-path", "slime.rollout.fully_async_rollout.generate_rollout_fully_async");
  settings.set("partial-rollout", workflow.rollout.is_interrupted);
}

// miles computes log-probabilities in a pass of their own unless it is skipped, which is for a single optimizer step; a
// critic beside engines that are ahead needs a correction (miles/utils/arguments.py, validate_skip_actor_forward_only
// and validate_async_off_policy_correction).
void write_miles_log_probs(const Workflow& workflow, TrainerScript& script) {
  const bool has_pass = workflow.has_task(task_names::kOldLogProb);
  if (!has_pass && workflow.mini_batches == 1) script.settings.set("skip-actor-forward-only", true);
  if (workflow.mode != Mode::synchronous && workflow.has_task(task_names::kCriticTraining))
    script.settings.set(has_pass ? "use-tis" : "use-rollout-logprobs", true);
  if (!has_pass && workflow.mini_batches > 1)
    script.notes.emplace_back(
        "miles computes the actor's log-probabilities again if an iteration has several optimizer steps; the "
        "workflow has no such pass.");
}

void write_slime_data(const TrainerProblem& problem, TrainerScript& script) {
  const Workflow& workflow = problem.workflow;
  TrainerSettings& settings = script.settings;
  settings.begin_group("Algorithm, data and batches");
  const bool has_critic = workflow.has_task(task_names::kCriticTraining);
  settings.set("advantage-estimator", has_critic ? "ppo" : "grpo");
  settings.set("use-kl-loss", workflow.has_task(task_names::kReferenceInference));
  settings.set("rollout-batch-size", workflow.prompts);
  settings.set("n-samples-per-prompt", workflow.responses_per_prompt);
  settings.set("num-steps-per-rollout", workflow.mini_batches);
  settings.set("rollout-max-prompt-len", max_prompt_tokens(workflow));
  settings.set("rollout-max-response-len", max_response_tokens(workflow));
  settings.set_shell("hf-checkpoint", "${MODEL_PATH}");
  settings.set_shell("ref-load", "${MEGATRON_PATH}");
  settings.set_shell("num-rollout", "${NUM_ROLLOUT}");
  settings.set_shell("prompt-data", "${TRAIN_FILE}");
  settings.set_shell("input-key", "${INPUT_KEY}");
  settings.set_shell("label-key", "${LABEL_KEY}");
  settings.set("apply-chat-template", true);
  settings.set_shell("rm-type", "${REWARD}");
  write_slime_mode(problem, settings);
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  script.variables.push_back({"MEGATRON_PATH", "the same model as a checkpoint of Megatron", ""});
  script.variables.push_back(
      {"MEGATRON", "a checkout of Megatron-LM, whose package has its core alone", "/root/Megatron-LM"});
  script.variables.push_back(
      is_miles(problem)
          ? ShellVariable{"MODEL_TYPE", "the file of scripts/models that has the model, without .py: qwen3-14B",
                          ""}
          : ShellVariable{"MODEL_SCRIPT", "the file of scripts/models with the model's MODEL_ARGS", ""});
  script.variables.push_back({"NUM_ROLLOUT", "iterations to train for, after which training ends", ""});
  script.variables.push_back({"TRAIN_FILE", "prompts for training, lines of JSON", ""});
  script.variables.push_back(
      {"INPUT_KEY", "the member of a line that holds the prompt, a list of messages", "prompt"});
  script.variables.push_back({"LABEL_KEY", "the member of a line that holds the expected answer", "label"});
  script.variables.push_back({"REWARD", "how responses are scored, for example deepscaler", "deepscaler"});
  script.variables.push_back({"RAY_ADDRESS", "the dashboard of the Ray cluster", "http://127.0.0.1:8265"});
}

// Both the trainer and the engine follow the flag (slime/backends/megatron_utils/arguments.py: bf16 without it;
// sglang_utils/sglang_engine.py).
void write_slime_precision(const Workflow& workflow, TrainerScript& script) {
  script.states_precision = workflow.precision == Precision::fp16;
  if (script.states_precision) script.settings.set("fp16", true);
}

// The launch, with the model's shape in MODEL_ARGS. slime has it as Bash, miles as Python.
std::string slime_command(const TrainerProblem& problem) {
  const std::string program = problem.workflow.mode == Mode::synchronous ? "train.py" : "train_async.py";
  const std::string model =
      is_miles(problem)
          ? "model_args=\"$(python3 -c 'import sys; from miles.utils.external_utils.model_args_utils import "
            "shell_safe_model_args; print(shell_safe_model_args(sys.argv[1]))' \"$MODEL_TYPE\")\"\n"
            "eval \"MODEL_ARGS=($model_args)\"\n"
          : "source \"$MODEL_SCRIPT\"\n";
  // Megatron refuses tensor and context parallelism on GPUs before Blackwell without the second variable.
  return model +
         "ray job submit --address=\"$RAY_ADDRESS\" "
         "--runtime-env-json='{\"env_vars\": {\"PYTHONPATH\": \"'\"$MEGATRON\"'\", "
         "\"CUDA_DEVICE_MAX_CONNECTIONS\": \"1\"}}' -- python3 " +
         program + " \"${MODEL_ARGS[@]}\"";
}

// slime takes the log-probabilities of its own first pass where it can.
void note_slime_log_probs(const Workflow& workflow, TrainerScript& script) {
  const bool computes = workflow.mini_batches > 1 || workflow.has_task(task_names::kCriticTraining);
  if (computes != workflow.has_task(task_names::kOldLogProb))
    script.notes.emplace_back(
        "slime computes the actor's log-probabilities again if an iteration has several optimizer steps or a "
        "critic; the workflow says otherwise.");
}

TrainerScript write_slime(const TrainerConfig& config, const TrainerProblem& problem) {
  const Workflow& workflow = problem.workflow;
  TrainerScript script;
  write_slime_data(problem, script);
  write_slime_gpus(config, workflow, script.settings);
  write_slime_engine(config, problem, script.settings);
  write_slime_megatron(config, script.settings);
  if (is_miles(problem)) write_miles_adapters(config, script.settings);
  write_slime_batches(config, workflow, script.settings);
  write_slime_precision(workflow, script);
  script.notes.emplace_back("Run it in a checkout of " + problem.profile.family + " " +
                            problem.profile.version + ".");
  if (!is_one_slime_pool(config))
    script.notes.emplace_back(
        "It numbers the GPUs by the addresses of their nodes: the trainer gets the first " +
        std::to_string(config.pool_of(kSlimeTrainer).gpus()) + ", the engines the rest.");
  if (is_miles(problem)) {
    write_miles_log_probs(workflow, script);
  } else {
    note_slime_log_probs(workflow, script);
  }
  script.command = slime_command(problem);
  return script;
}

// ---- reading ----

void read_slime_pools(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const int nodes = settings.count("actor-num-nodes", 1, TrainerSettings::kMaxNodes),
            per_node = settings.count("actor-num-gpus-per-node", kSlimeNode, TrainerSettings::kMaxGpusPerNode);
  const int trainer = take_pool("trainer", nodes, per_node, problem.cluster, config);
  for (auto& [name, task] : config.tasks) task.pool = trainer;
  if (settings.flag("colocate", false)) return;
  const int gpus = settings.count("rollout-num-gpus", nodes * per_node),
            of_engines = settings.count("num-gpus-per-node", kSlimeNode, TrainerSettings::kMaxGpusPerNode);
  const bool is_whole = gpus % of_engines == 0;
  config.tasks.at(kSlimeEngine).pool = take_pool("rollout", is_whole ? gpus / of_engines : 1,
                                                 is_whole ? of_engines : gpus, problem.cluster, config);
}

bool read_slime_switch(const TrainerSettings& settings, const std::string& name, bool is_on_by_default) {
  if (settings.has("no-" + name)) return !settings.flag("no-" + name, false);
  return settings.flag(name, is_on_by_default);
}

void read_slime_actor(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(kSlimeTrainer);
  Execution& execution = task.options.execution;
  task.tensor_parallel = settings.count("tensor-model-parallel-size", 1);
  task.pipeline_parallel = settings.count("pipeline-model-parallel-size", 1);
  execution.context_parallel = settings.count("context-parallel-size", 1);
  execution.expert_parallel = settings.count("expert-model-parallel-size", 1);
  execution.expert_tensor_parallel = settings.count("expert-tensor-parallel-size", task.tensor_parallel);
  if (task.tensor_parallel > 1) execution.sequence_parallel = settings.flag("sequence-parallel", false);
  const double offloaded = settings.number("optimizer-offload-fraction", 1);  // Megatron's default, of its flag
  execution.offload_optimizer = settings.flag("optimizer-cpu-offload", false) && offloaded > 0;
  const bool is_on_by_default =
      settings.flag("colocate", false) || problem.workflow.has_task(task_names::kCriticTraining);
  execution.offload_weights = read_slime_switch(settings, "offload-train", is_on_by_default);
  if (is_miles(problem)) execution.lora_rank = settings.integer("lora-rank", 0);
  const std::string granularity = settings.text("recompute-granularity", "");
  task.options.recompute = granularity == "full"        ? Recompute::full
                           : granularity == "selective" ? Recompute::selective
                                                        : Recompute::none;
  const bool counts_tokens = settings.flag("use-dynamic-batch-size", false);
  execution.micro_batch_tokens =
      counts_tokens ? settings.count("max-tokens-per-gpu", execution.micro_batch_tokens) : 0;
  if (!counts_tokens) task.options.micro_batch_sequences = settings.count("micro-batch-size", 1);
  const auto layers = [&](const char* key) { return settings.has(key) ? settings.integer(key, 0) : 0; };
  complete_layout(kSlimeTrainer, problem, layers("decoder-first-pipeline-num-layers"),
                  layers("decoder-last-pipeline-num-layers"), config);
  const int virtual_layers = layers("num-layers-per-virtual-pipeline-stage");
  execution.virtual_stages = settings.count("num-virtual-stages-per-pipeline-rank", 1);
  if (virtual_layers > 0) execution.virtual_stages = std::max(1, task.stage_layers.front() / virtual_layers);
}

void read_slime_others(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const TrainerTask& actor = config.tasks.at(kSlimeTrainer);
  const Execution& of = actor.options.execution;
  for (const Task& named : problem.workflow.tasks) {
    if (named.kind == TaskKind::generation || named.name == kSlimeTrainer) continue;
    TrainerTask& task = config.tasks.at(named.name);
    TaskPlan options = task.options;
    task = actor;
    task.options.execution.lora_rank = 0;
    if (named.kind == TaskKind::training) continue;
    options.execution.context_parallel = of.context_parallel;
    options.execution.expert_parallel = of.expert_parallel;
    options.execution.expert_tensor_parallel = of.expert_tensor_parallel;
    options.execution.sequence_parallel = of.sequence_parallel;
    options.execution.offload_weights = of.offload_weights;
    options.execution.micro_batch_tokens =
        of.micro_batch_tokens == 0 ? 0 : settings.count("log-probs-max-tokens-per-gpu", of.micro_batch_tokens);
    if (of.micro_batch_tokens == 0) options.micro_batch_sequences = actor.options.micro_batch_sequences;
    task.options = options;
  }
}

void read_slime_engine(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(kSlimeEngine);
  Execution& execution = task.options.execution;
  task.pipeline_parallel = settings.count("sglang-pp-size", 1);
  const int width = std::max(1, settings.count("rollout-num-gpus-per-engine", 1) / task.pipeline_parallel);
  const int replicas =
      settings.flag("sglang-enable-dp-attention", false) ? settings.count("sglang-dp-size", 1) : 1;
  if (width % replicas != 0)
    throw_bad_input("sglang-dp-size: SGLang refuses " + std::to_string(replicas) + ": it does not divide the " +
                    std::to_string(width) + " GPUs of an engine");
  task.tensor_parallel = width / replicas;
  execution.expert_parallel = settings.count("sglang-ep-size", 1);
  if (problem.workflow.model_of(problem.workflow.task(kSlimeEngine)).experts) split_engine_experts(width, task);
  // Engines on GPUs of their own stay there, whatever the flag says (slime/ray/rollout.py, needs_offload).
  const bool is_shared = settings.flag("colocate", false);
  execution.offload_weights = read_slime_switch(settings, "offload-rollout", is_shared) && is_shared;
  task.options.decode_batch_sequences =
      std::max(1, settings.count("sglang-server-concurrency", task.options.decode_batch_sequences) / replicas);
  execution.prefill_chunk_tokens =
      settings.integer("sglang-chunked-prefill-size", execution.prefill_chunk_tokens) / replicas;
  complete_layout(kSlimeEngine, problem, 0, 0, config);
  constexpr double kDefaultFraction = 0.85;  // of SGLang on GPUs of 80 GB
  take_engine_fraction(
      settings.number("sglang-mem-fraction-static", kDefaultFraction) + kEngineWorkspaceFraction, kSlimeEngine,
      problem, config);
}

void read_slime(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  read_slime_pools(settings, problem, config);
  read_slime_engine(settings, problem, config);
  read_slime_actor(settings, problem, config);
  read_slime_others(settings, problem, config);
}

DialectRules slime_rules(const FrameworkProfile& profile) {
  static_cast<void>(profile);
  DialectRules rules;
  rules.more_options = {"generation.expert_tensor_parallel"};
  rules.settle = settle_slime;
  return rules;
}

// slime cuts a step into micro-batches of all replicas (slime/utils/dp_schedule.py), and initializes Megatron's counter
// of micro-batches even where a budget of tokens replaces it (slime/backends/megatron_utils/initialize.py).
std::string slime_batch_refusal(const std::string& framework, const TrainerConfig& config,
                                const Workflow& workflow) {
  TrainerTask task = config.tasks.at(kSlimeTrainer);
  const bool counts_tokens = task.options.execution.micro_batch_tokens > 0;
  if (counts_tokens) task.options.micro_batch_sequences = 1;
  const int group = micro_batch_group(task), step = sequences_per_step(workflow),
            parts = task.data_parallel * task.options.micro_batch_sequences;
  const std::string unit = "sequences of an optimizer step",
                    of = replicas_and_micro_batches(kSlimeTrainer, task);
  const std::string refusal = uneven_refusal(framework, step, unit, parts, of);
  if (!refusal.empty() || group == 1 || (counts_tokens && step >= parts * group)) return refusal;
  return uneven_refusal(framework, step, unit, parts * group,
                        of + " in groups of " + std::to_string(group) + " for virtual stages");
}

// An engine has GPUs of one node, or whole nodes: SGLang takes those that follow the first one.
std::string slime_engine_refusal(const std::string& framework, const TrainerConfig& config) {
  const TrainerTask& task = config.tasks.at(kSlimeEngine);
  const int gpus = engine_width(task) * task.pipeline_parallel,
            of_node = config.pool_of(kSlimeEngine).gpus_per_node;
  if (of_node % gpus == 0 || gpus % of_node == 0) return "";
  return framework + "'s engines have GPUs of one node or whole nodes; the plan's have " +
         std::to_string(gpus) + ", and its nodes " + std::to_string(of_node);
}

std::string slime_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  const Workflow& workflow = problem.workflow;
  const std::string& framework = problem.profile.family;
  if (!config.tasks.contains(kSlimeTrainer) || !config.tasks.contains(kSlimeEngine))
    return framework + " runs PPO and GRPO; the workflow has no generation or no training of an actor";
  if (workflow.has_task(task_names::kCriticTraining) &&
      config.tasks.at(kSlimeTrainer).options.execution.lora_rank > 0)
    return framework + " has no critic where the actor has adapters (--megatron-to-hf-mode bridge)";
  if (config.tasks.contains(task_names::kRewardInference))
    return framework + " scores responses with a function or a server; the workflow has a reward model";
  if (workflow.has_task(task_names::kCriticTraining) &&
      workflow.models.at("critic").layers != workflow.models.at("actor").layers)
    return framework + "'s critic has the shape of the actor; the workflow's has another number of layers";
  const std::string refusal = slime_batch_refusal(framework, config, workflow);
  return refusal.empty() ? slime_engine_refusal(framework, config) : refusal;
}

}  // namespace

Dialect slime_dialect() {
  return {"slime", "slime", SettingForm::flags, slime_rules, slime_refusal, write_slime, read_slime};
}

Dialect miles_dialect() {
  return {"miles", "miles", SettingForm::flags, slime_rules, slime_refusal, write_slime, read_slime};
}

}  // namespace sextant::inline reports
