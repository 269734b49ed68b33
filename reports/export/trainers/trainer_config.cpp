#include "reports/export/trainers/trainer_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "costmodel/problem/work.h"
#include "sextant/error.h"
#include "sextant/task_choices.h"

namespace sextant::inline reports {
namespace {

constexpr double kFractionDigits = 1000;

double engine_weight_bytes(const TrainerTask& task, const Model& model, Precision precision) {
  const Precision stored =
      task.options.execution.weight_precision.value_or(task.options.execution.precision.value_or(precision));
  const double experts = model.layers * model.layer_expert_parameters();
  const double on_device = (model.parameters() - experts) / task.tensor_parallel +
                           experts / expert_width(task.options.execution, task.tensor_parallel);
  return on_device * bytes_per_element(stored) / task.pipeline_parallel;
}

// Nodes whose numbers of GPUs differ are divided into equal parts.
GpuPool pool_on(std::string name, const std::set<DeviceId>& devices, const Cluster& cluster) {
  std::map<NodeId, int> by_node;
  for (const DeviceId device : devices) ++by_node[cluster.node_of(device)];
  int part = 0;
  for (const auto& [node, count] : by_node) part = std::gcd(part, count);
  return {std::move(name), static_cast<int>(devices.size()) / part, part, {devices.begin(), devices.end()}};
}

// actor_training first, then in the order of the workflow.
std::vector<std::string> naming_order(const Workflow& workflow) {
  std::vector<std::string> order;
  if (workflow.has_task(task_names::kActorTraining)) order.emplace_back(task_names::kActorTraining);
  for (const Task& task : workflow.tasks) order.push_back(task.name);
  return order;
}

std::string name_by_task(const std::string& task) {
  if (task == task_names::kActorTraining) return "trainer";
  return task == task_names::kActorGeneration ? "rollout" : task;
}

}  // namespace

std::string pool_name(const std::vector<std::string>& tasks, const Workflow& workflow) {
  for (const std::string& task : naming_order(workflow)) {
    if (std::find(tasks.begin(), tasks.end(), task) != tasks.end()) return name_by_task(task);
  }
  return "";
}

std::vector<GpuPool> gpu_pools(const Plan& plan, const Workflow& workflow, const Cluster& cluster) {
  std::vector<GpuPool> pools;
  for (const std::string& task : naming_order(workflow)) {
    const std::set<DeviceId> devices = plan.tasks.at(task).devices();
    const bool is_known = std::any_of(pools.begin(), pools.end(), [&](const GpuPool& pool) {
      return std::equal(pool.devices.begin(), pool.devices.end(), devices.begin(), devices.end());
    });
    if (!is_known) pools.push_back(pool_on(name_by_task(task), devices, cluster));
  }
  return pools;
}

std::vector<int> even_stages(int layers, int stages) {
  std::vector<int> out(static_cast<std::size_t>(stages), layers / stages);
  for (int stage = 0; stage < layers % stages; ++stage) ++out[static_cast<std::size_t>(stage)];
  return out;
}

const TaskProfile& task_profile(const FrameworkProfile& profile, TaskKind kind) {
  static const TaskProfile none;
  const auto found = profile.tasks.find(kind);
  return found == profile.tasks.end() ? none : found->second;
}

std::vector<int> dealt_stages(int layers, int stages, StageRule rule) {
  if (rule != StageRule::differ_by_one) return even_stages(layers, stages);
  std::vector<std::vector<int>> dealt = stage_layers(layers, stages, 1, rule);
  return dealt.empty() ? even_stages(layers, stages) : std::move(dealt.front());
}

std::vector<Replica> replicas_on(const std::vector<DeviceId>& devices, const std::vector<int>& stage_layers,
                                 int width, bool has_stages_outermost) {
  const auto stages = stage_layers.size(), across = static_cast<std::size_t>(width);
  const std::size_t count = devices.size() / (stages * across);
  SEXTANT_CHECK(count >= 1 && count * stages * across == devices.size());
  std::vector<Replica> replicas(count);
  for (std::size_t number = 0; number < count; ++number) {
    replicas[number].batch_share = 1.0 / static_cast<double>(count);
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const std::size_t group = has_stages_outermost ? stage * count + number : number * stages + stage;
      const auto first = devices.begin() + static_cast<std::ptrdiff_t>(group * across);
      replicas[number].stages.push_back({stage_layers[stage], {first, first + width}});
    }
  }
  return replicas;
}

TrainerConfig trainer_config_of(const Plan& plan, const Workflow& workflow, const Cluster& cluster) {
  TrainerConfig config{plan.name, gpu_pools(plan, workflow, cluster), {}};
  for (const Task& task : workflow.tasks) {
    const TaskPlan& planned = plan.tasks.at(task.name);
    const Replica& replica = planned.replicas.front();
    TrainerTask out;
    out.options = planned;
    out.options.replicas.clear();
    out.data_parallel = planned.data_parallel();
    out.pipeline_parallel = replica.pipeline_parallel();
    out.tensor_parallel = planned.tensor_parallel(replica.stages.front());
    for (const Stage& stage : replica.stages) out.stage_layers.push_back(stage.layers);
    const std::set<DeviceId> devices = planned.devices();
    while (!std::equal(devices.begin(), devices.end(),
                       config.pools[static_cast<std::size_t>(out.pool)].devices.begin(),
                       config.pools[static_cast<std::size_t>(out.pool)].devices.end()))
      ++out.pool;
    config.tasks.emplace(task.name, std::move(out));
  }
  return config;
}

Plan plan_of(const TrainerConfig& config, const Workflow& workflow, const FrameworkProfile& profile) {
  Plan plan;
  plan.name = config.plan;
  plan.weight_sync = profile.weight_sync;
  for (const auto& [name, task] : config.tasks) {
    TaskPlan planned = task.options;
    planned.replicas = replicas_on(config.pool_of(name).devices, task.stage_layers,
                                   task.tensor_parallel * planned.execution.context_parallel,
                                   has_stages_outermost(profile, workflow.task(name).kind));
    plan.tasks.emplace(name, std::move(planned));
  }
  return plan;
}

TaskPlan default_options(const FrameworkProfile& profile, TaskKind kind) {
  TaskPlan out;
  const auto found = profile.tasks.find(kind);
  if (found == profile.tasks.end()) return out;
  out.execution = found->second.executions.front();
  out.micro_batch_sequences = found->second.micro_batch_sequences.front();
  if (kind == TaskKind::training) out.recompute = found->second.recompute.front();
  if (kind == TaskKind::generation) out.decode_batch_sequences = found->second.decode_batch_sequences.front();
  return out;
}

double engine_memory_fraction(const TrainerTask& task, const Model& model, Precision precision,
                              double device_bytes) {
  const double bytes = task.options.execution.kv_cache_bytes + engine_weight_bytes(task, model, precision);
  return std::round((bytes / device_bytes + kEngineWorkspaceFraction) * kFractionDigits) / kFractionDigits;
}

double kv_cache_bytes_of(double engine_fraction, const TrainerTask& task, const Model& model,
                         Precision precision, double device_bytes) {
  const double bytes =
      (engine_fraction - kEngineWorkspaceFraction) * device_bytes - engine_weight_bytes(task, model, precision);
  return std::max(bytes, 1.0);
}

double smallest_memory_bytes(const std::vector<DeviceId>& devices, const Cluster& cluster) {
  double bytes = std::numeric_limits<double>::infinity();
  for (const DeviceId device : devices) bytes = std::min(bytes, cluster.type_of(device).memory_bytes.value);
  return bytes;
}

}  // namespace sextant::inline reports
