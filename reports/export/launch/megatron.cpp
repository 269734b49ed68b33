// Megatron-LM core_v0.19.0 (5be9626709af): the actor's training as flags of pretrain_gpt.py under torchrun. Flags are
// those of megatron/training/arguments.py and of the classes that it makes them from, github.com/NVIDIA/Megatron-LM.
#include <algorithm>
#include <array>

#include "reports/export/launch/launch.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/setting_rows.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kTrained = task_names::kActorTraining;

constexpr std::array kMegatronRows{SettingRow{"tensor-model-parallel-size", Says::tensor},
                                   SettingRow{"pipeline-model-parallel-size", Says::stages},
                                   SettingRow{"context-parallel-size", Says::context},
                                   SettingRow{"expert-model-parallel-size", Says::experts},
                                   SettingRow{"expert-tensor-parallel-size", Says::expert_tensor, 0},
                                   SettingRow{"num-virtual-stages-per-pipeline-rank", Says::virtual_stages},
                                   SettingRow{"sequence-parallel", Says::sequence_parallel, 0},
                                   SettingRow{"use-distributed-optimizer", Says::distributed_optimizer, 0},
                                   SettingRow{"optimizer-cpu-offload", Says::optimizer_on_host, 0},
                                   SettingRow{"recompute-granularity", Says::recompute},
                                   SettingRow{"micro-batch-size", Says::micro_sequences}};

// The limits of a framework that trains with Megatron, for training alone: sequences of one length, and weights that
// never leave the GPUs.
FrameworkProfile megatron_limits(FrameworkProfile profile) {
  for (Execution& execution : profile.tasks[TaskKind::training].executions) {
    execution.packed = execution.offload_weights = false;
    execution.micro_batch_tokens = 0;
  }
  profile.name = "megatron";
  profile.option_names.erase("training.offload_weights");
  return profile;
}

// Micro-batches are counted in sequences, and only optimizer states are sharded.
std::string settle_megatron(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  static_cast<void>(profile);
  TaskPlan& task = plan.tasks.at(kTrained);
  const TaskPlan before = task;
  split_sequences_of_experts(plan, workflow);
  keep_chunks_whole(plan);
  Execution& execution = task.execution;
  if (execution.micro_batch_tokens > 0) {
    const double mean = workflow.prompt_tokens.mean_tokens() + workflow.response_tokens.mean_tokens();
    task.micro_batch_sequences =
        std::max(1, static_cast<int>(execution.micro_batch_tokens * execution.context_parallel / mean));
    execution.micro_batch_tokens = 0;
  }
  execution.zero_stage = std::min(execution.zero_stage, 1);
  if (execution.offload_optimizer) execution.zero_stage = 1;  // the only optimizer that leaves the GPU
  return task == before ? ""
                        : "actor_training: micro-batches are counted in sequences, optimizer states are all "
                          "that is sharded, sequences of mixtures are split over tensor parallelism, and "
                          "virtual stages divide the layers of a stage";
}

// The workflow that has the actor's training alone.
Workflow training_of(const Workflow& workflow) {
  Workflow out = workflow;
  std::erase_if(out.tasks, [](const Task& task) { return task.name != kTrained; });
  for (Task& task : out.tasks) task.after.clear();
  return out;
}

// True if the pool has whole parts of nodes, one after the other, as torchrun needs them.
bool has_equal_nodes(const std::vector<NodeGpus>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const NodeGpus& one) { return one.gpus.size() == nodes.front().gpus.size(); });
}

// Context and sequence parallelism divide the length of a batch.
int divisible_length(int tokens, const TrainerTask& task) {
  const int parts = 2 * task.options.execution.context_parallel * task.tensor_parallel;
  return (tokens + parts - 1) / parts * parts;
}

void write_megatron_flags(const TrainerTask& task, const Workflow& workflow, TrainerSettings& settings) {
  settings.begin_group("Layout");
  write_rows(kMegatronRows, "", task, settings, true);
  // Megatron refuses optimizers on the host without the first of these flags.
  settings.set("use-precision-aware-optimizer", task.options.execution.offload_optimizer);
  settings.set("overlap-cpu-optimizer-d2h-h2d", task.options.execution.offload_optimizer);
  if (task.options.recompute == Recompute::full) {
    settings.set("recompute-method", "uniform");
    settings.set("recompute-num-layers", 1);
  }
  if (has_uneven_ends(task)) {
    settings.set("decoder-first-pipeline-num-layers", task.stage_layers.front());
    settings.set("decoder-last-pipeline-num-layers", task.stage_layers.back());
  }
  settings.begin_group("Batches");
  settings.set("global-batch-size", prompts_per_step(workflow) * workflow.responses_per_prompt);
  settings.set("seq-length",
               divisible_length(max_prompt_tokens(workflow) + max_response_tokens(workflow), task));
  settings.set_shell("train-iters", "${TRAIN_ITERS}");
  settings.set_shell("lr", "${LR}");
  if (workflow.precision != Precision::fp32)
    settings.set(workflow.precision == Precision::fp16 ? "fp16" : "bf16", true);
  settings.set("attention-dropout", 0.0);  // Megatron's default for both is 0.1
  settings.set("hidden-dropout", 0.0);
  settings.begin_group("Model and data");
  settings.set("use-checkpoint-args", true);
  settings.set_shell("load", "${MEGATRON_PATH}");
  settings.set_shell("data-path", "${DATA_PATH}");
}

// megatron/core/num_microbatches_calculator.py and pipeline_parallel/schedules.py
std::string batch_refusal(const TrainerTask& task, const Workflow& workflow) {
  const int group = micro_batch_group(task), batch = prompts_per_step(workflow) * workflow.responses_per_prompt;
  const std::string of = replicas_and_micro_batches(kTrained, task);
  return uneven_refusal(
      "Megatron", batch, "sequences of an optimizer step",
      task.data_parallel * task.options.micro_batch_sequences * group,
      group == 1 ? of : of + " in groups of " + std::to_string(group) + " for virtual stages");
}

LaunchScript write_megatron(const Plan& plan, const LaunchProblem& problem) {
  LaunchScript script;
  script.plan = plan;
  if (!problem.workflow.has_task(kTrained)) {
    script.refusal = "Megatron trains, and the workflow has no training of an actor";
    return script;
  }
  const Workflow workflow = training_of(problem.workflow);
  Plan training;
  training.name = plan.name;
  training.tasks.emplace(kTrained, plan.tasks.at(kTrained));
  DialectRules rules;
  rules.settle = settle_megatron;
  const FrameworkProfile limits = megatron_limits(problem.megatron);
  const NearestPlan nearest = nearest_plan(training, workflow, problem.cluster, limits, rules);
  script.refusal = nearest.refusal;
  for (const Unsaid& one : nearest.unsaid) {
    script.plan.tasks.at(kTrained) = one.plan.tasks.at(kTrained);
    script.unsaid.push_back({one.sentence, script.plan});
  }
  script.plan.tasks.at(kTrained) = nearest.plan.tasks.at(kTrained);
  const std::set<DeviceId> devices = nearest.plan.tasks.at(kTrained).devices();
  const std::vector<NodeGpus> nodes = gpus_by_node({devices.begin(), devices.end()}, problem.cluster);
  if (!has_equal_nodes(nodes) && script.refusal.empty())
    script.refusal =
        "torchrun starts equally many processes on every node, and the plan has unequal numbers of GPUs";
  if (!script.refusal.empty()) return script;
  const TrainerConfig config = trainer_config_of(nearest.plan, workflow, problem.cluster);
  const TrainerTask& task = config.tasks.at(kTrained);
  script.refusal = batch_refusal(task, workflow);
  if (!script.refusal.empty()) return script;
  TrainerSettings settings;
  write_megatron_flags(task, workflow, settings);
  std::vector<NodeId> ids;
  std::vector<std::string> lines;
  for (const NodeGpus& node : nodes) {
    lines.push_back("    rank=" + std::to_string(ids.size()) + " gpus=" + node.list() + "\n");
    ids.push_back(node.node);
  }
  const std::string& first = problem.cluster.nodes()[static_cast<std::size_t>(nodes.front().node.value)].name;
  script.variables = {node_variable(),
                      {"MASTER_ADDR", "address of the first node", quoted_for_shell(as_comment(first))},
                      {"MASTER_PORT", "a free port on it", "29500"},
                      {"MEGATRON", "a checkout of Megatron-LM core_v0.19.0", ""},
                      {"MEGATRON_PATH", "the model as a checkpoint of Megatron, with its arguments", ""},
                      {"TRAIN_ITERS", "optimizer steps, after which training ends", ""},
                      {"LR", "learning rate", "1e-6"},
                      {"DATA_PATH", "training data as Megatron preprocesses it", ""}};
  script.notes = {"Run it on every node.",
                  "It trains on a fixed data set: rollouts, advantages and rewards are other programs'.",
                  "num-layers and the other arguments of the model are those of the checkpoint."};
  script.body =
      flag_arguments(settings) + "\n" + case_of_nodes(ids, lines, problem.cluster) +
      "\n# Megatron refuses tensor and context parallelism on GPUs before Blackwell without the first variable."
      "\nCUDA_DEVICE_MAX_CONNECTIONS=1 CUDA_VISIBLE_DEVICES=\"$gpus\" torchrun --nnodes " +
      std::to_string(nodes.size()) + " --nproc-per-node " + std::to_string(nodes.front().gpus.size()) +
      " --node-rank \"$rank\" --master-addr \"$MASTER_ADDR\" --master-port \"$MASTER_PORT\" "
      "\"$MEGATRON/pretrain_gpt.py\" \"${arguments[@]}\" \"$@\"\n";
  return script;
}

void read_megatron(std::string_view script, const LaunchProblem& problem, Plan& plan) {
  TrainerConfig config;
  GpuPool pool{"trainer", 1, 1, {}};
  for (const NodeLine& line : lines_of_nodes(script, problem.cluster)) {
    constexpr std::string_view kGpus = " gpus=";
    const std::size_t at = line.text.find(kGpus);
    if (at == std::string_view::npos) continue;
    const std::vector<DeviceId> of_node =
        devices_on(line.node, line.text.substr(at + kGpus.size()), problem.cluster);
    pool.devices.insert(pool.devices.end(), of_node.begin(), of_node.end());
  }
  pool.gpus_per_node = static_cast<int>(pool.devices.size());
  config.pools.push_back(std::move(pool));
  TrainerTask& task = config.tasks[kTrained];
  const FrameworkProfile limits = megatron_limits(problem.megatron);
  task.options = default_options(limits, TaskKind::training);
  const TrainerSettings settings = read_flags(script.substr(0, script.find("\ncase ")));
  read_rows(kMegatronRows, "", settings, task);
  const auto layers = [&](const char* key) { return settings.has(key) ? settings.count(key, 1) : 0; };
  const Workflow workflow = training_of(problem.workflow);
  complete_layout(kTrained, {workflow, problem.cluster, limits}, layers("decoder-first-pipeline-num-layers"),
                  layers("decoder-last-pipeline-num-layers"), config);
  plan.tasks[kTrained] = plan_of(config, workflow, limits).tasks.at(kTrained);
}

}  // namespace

LaunchDialect megatron_launch() { return {"megatron", "core_v0.19.0", write_megatron, read_megatron}; }

}  // namespace sextant::inline reports
