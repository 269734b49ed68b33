#include "planner/evaluate/task_model.h"

#include <algorithm>

#include "costmodel/iteration.h"
#include "costmodel/problem/symmetry.h"
#include "costmodel/task.h"
#include "costmodel/terms/memory.h"
#include "costmodel/terms/weight_sync.h"

namespace sextant::inline planner {
namespace {

int total_of(const std::vector<int>& parts) {
  int sum = 0;
  for (const int part : parts) sum += part;
  return sum;
}

}  // namespace

TaskModel::TaskModel(const Task& task, std::vector<Execution> executions, const Execution& training,
                     const Problem<double>& frame, double memory_share, const SortedLengths* sorted)
    : task_(&task),
      executions_(std::move(executions)),
      sync_problem_(&frame),
      memory_share_(memory_share),
      sorted_(sorted) {
  const auto& nodes = frame.cluster().nodes();
  counts_host_memory_ = std::any_of(nodes.begin(), nodes.end(),
                                    [](const Node& node) { return node.host_memory_bytes.has_value(); });
  const Workflow& workflow = frame.workflow;
  const std::vector<WeightUse> uses = other_weight_uses(workflow);
  uses_trained_weights_ = std::any_of(uses.begin(), uses.end(), [&](const WeightUse& use) {
    return workflow.tasks[use.used].name == task.name;
  });
  if (uses_trained_weights_) fill_stage_shares();
  if (!workflow.has_weight_sync()) return;
  is_actor_training_ = task.name == workflow.actor_training().name;
  is_actor_generation_ = task.name == workflow.actor_generation().name;
  if (!is_actor_training_ && !is_actor_generation_) return;
  if (is_actor_generation_ && stage_shares_.empty()) fill_stage_shares();
  auto trained = std::make_unique<Trained>();
  trained->plan =
      one_device_plan({}, workflow.model_of(workflow.actor_training()).layers, training, workflow.sequences());
  trained->work = work_of(workflow.actor_training(), trained->plan, workflow, frame.cluster());
  trained_ = std::move(trained);
}

bool TaskModel::is_always_separable() const {
  return std::all_of(executions_.begin(), executions_.end(),
                     [](const Execution& execution) { return is_separable(execution); });
}

TaskPlan TaskModel::plan(const Shape& shape, const Placement& placement) const {
  return task_plan(shape, placement.devices, execution(shape), total_of(shape.sequences));
}

double TaskModel::sent_bytes() const { return terms::sent_bytes(*sync_problem_, trained_->work); }
double TaskModel::handover_s() const { return terms::handover_s(*sync_problem_, trained_->work); }
double TaskModel::woken_s() const { return terms::engine_woken_s(*sync_problem_); }

void TaskModel::fill_stage_shares() {
  const Model& model = sync_problem_->workflow.model_of(*task_);
  stage_shares_.resize(static_cast<std::size_t>(model.layers) + 1);
  for (int layers = 0; layers <= model.layers; ++layers) {
    std::array<double, 4>& shares = stage_shares_[static_cast<std::size_t>(layers)];
    for (std::size_t ends = 0; ends < shares.size(); ++ends)
      shares[ends] = terms::part_of_weights(model, layers, (ends & 1U) != 0, (ends & 2U) != 0, 1);
  }
}

double TaskModel::largest_part(const Shape& shape) const {
  if (stage_shares_.empty()) return 0;
  const int tensor_parallel = shape.tensor_parallel / execution(shape).context_parallel;
  double largest = 0;
  for (std::size_t j = 0; j < shape.layers.size(); ++j) {
    const std::size_t ends = (j == 0 ? 1U : 0U) + (j + 1 == shape.layers.size() ? 2U : 0U);
    largest = std::max(largest, stage_shares_[static_cast<std::size_t>(shape.layers[j])][ends]);
  }
  return largest / tensor_parallel;
}

TaskWork TaskModel::work(const TaskPlan& plan) const {
  return work_of(*task_, plan, sync_problem_->workflow, sync_problem_->cluster(), sorted_);
}

void TaskModel::add_sync(const TaskWork& work, ReplicaValue& value) const {
  if (is_actor_training_) {
    value.gather_s = terms::fastest_gather_s(*sync_problem_, work);
    value.copied_s = terms::assembling_s(*sync_problem_, work);
    value.fetched_s = terms::fetched_s(*sync_problem_, work);
  }
  if (is_actor_generation_) {
    value.gather_s = terms::slowest_gather_s(*sync_problem_, work, sent_bytes());
    value.copied_s = terms::delivering_s(*sync_problem_, trained_->work, work);
  }
}

void TaskModel::add_host_memory(const TaskWork& work, ReplicaValue& value) const {
  for (const ReplicaClass& of_class : work.classes) {
    const int stages = work.plan->replicas[static_cast<std::size_t>(of_class.replica)].pipeline_parallel();
    for (int j = 0; j < stages; ++j) {
      const StageMemory memory = stage_memory(work, of_class.replica, j);
      value.max_host_bytes = std::max(value.max_host_bytes, kPinnedShare * memory.host_bytes);
      if (work.kind() == TaskKind::generation && !work.execution().offload_weights)
        value.max_sleeping_bytes = std::max(value.max_sleeping_bytes, kPinnedShare * memory.state_bytes);
    }
  }
}

void TaskModel::add_memory(const TaskWork& work, bool all, ReplicaValue& value) const {
  if (counts_host_memory_) add_host_memory(work, value);
  const auto type_of = [this](DeviceId device) { return sync_problem_->hardware.type_index(device); };
  std::vector<TaskMemory<double>> memory = task_memory(work, sync_problem_->coefficients, type_of, all);
  PositionBytes bytes;
  bytes.resident.reserve(memory.size());
  bytes.working.reserve(memory.size());
  for (TaskMemory<double>& of : memory) {
    if (finds_weights_ && !work.execution().offload_weights) of.leave_out_states();
    of.scale_reserved(memory_share_);
    bytes.resident.push_back(of.resident_bytes);
    bytes.working.push_back(of.working_bytes);
    value.max_resident_bytes = std::max(value.max_resident_bytes, of.resident_bytes);
    value.max_working_bytes = std::max(value.max_working_bytes, of.working_bytes);
  }
  value.bytes = std::make_shared<const PositionBytes>(std::move(bytes));
}

ReplicaValue TaskModel::replica(const Shape& shape, std::span<const std::uint16_t> devices, int number) const {
  const TaskPlan plan = first_replica_plan(shape, number, devices, execution(shape), total_of(shape.sequences));
  const TaskWork task =
      work_of_first_replica(*task_, plan, sync_problem_->workflow, sync_problem_->cluster(), sorted_);
  ReplicaValue value;
  const TaskCost<double> cost = task_parts::replica_cost(*sync_problem_, task, 0);
  value.time_s = cost.time_s;
  value.compute_s = cost.term(Term::compute);
  value.micro_batches = task.replicas.front().micro_batches;
  if (is_training()) value.optimizer_s = task_parts::slowest_optimizer_s(*sync_problem_, task);
  if (sync_problem_->cluster().has_trunks())
    value.trunk_loads =
        std::make_shared<const terms::TrunkLoads<double>>(terms::trunk_loads(*sync_problem_, task, 0));
  add_sync(task, value);
  add_memory(task, false, value);
  return value;
}

std::vector<StageTime> TaskModel::stage_times(const Shape& shape, std::span<const std::uint16_t> devices,
                                              int number) const {
  const TaskPlan plan = first_replica_plan(shape, number, devices, execution(shape), total_of(shape.sequences));
  const TaskWork task =
      work_of_first_replica(*task_, plan, sync_problem_->workflow, sync_problem_->cluster(), sorted_);
  TaskPlan grown_plan = plan;
  for (Stage& stage : grown_plan.replicas.front().stages) ++stage.layers;
  TaskWork grown = task;
  grown.plan = &grown_plan;
  std::vector<StageTime> times;
  times.reserve(shape.layers.size());
  for (int j = 0; j < shape.pipeline_parallel(); ++j) {
    const double time_s = task_parts::stage_cost(StageOfTask<double>{*sync_problem_, task, 0, j}).time_s;
    const double with_one_more_s =
        task_parts::stage_cost(StageOfTask<double>{*sync_problem_, grown, 0, j}).time_s;
    times.push_back({time_s, with_one_more_s - time_s});
  }
  return times;
}

ReplicaValue TaskModel::whole(const Shape& shape, std::span<const std::uint16_t> devices) const {
  const TaskPlan plan = task_plan(shape, devices, execution(shape), total_of(shape.sequences));
  const TaskWork task = work(plan);
  ReplicaValue value;
  const TaskCost<double> slowest = task_parts::slowest_replica_cost(*sync_problem_, task);
  value.time_s = slowest.time_s;
  value.compute_s = slowest.term(Term::compute);
  value.micro_batches = task.replicas.front().micro_batches;
  if (is_training()) value.optimizer_s = task_parts::slowest_optimizer_s(*sync_problem_, task);
  add_sync(task, value);
  add_memory(task, true, value);
  return value;
}

double TaskModel::reduction_s(const Shape& shape, int stage, std::span<const std::uint16_t> devices) const {
  // The first replica, on any devices, determines number and size of the reductions; the stage its groups.
  const int total = total_of(shape.sequences);
  const std::vector<std::uint16_t> anywhere(static_cast<std::size_t>(shape.replica_devices()), devices.front());
  const TaskPlan plan = first_replica_plan(shape, 0, anywhere, execution(shape), total);
  TaskWork task =
      work_of_first_replica(*task_, plan, sync_problem_->workflow, sync_problem_->cluster(), sorted_);
  Shape of_stage = shape;
  of_stage.layers = {shape.layers[static_cast<std::size_t>(stage)]};
  const TaskPlan stage_plan = task_plan(of_stage, devices, execution(shape), total);
  set_gradient_groups(stage_plan, sync_problem_->cluster(), task, shape.pipeline_parallel());
  for (std::vector<GradientGroup>* groups : {&task.gradient_groups, &task.shard_groups, &task.copy_groups}) {
    for (GradientGroup& group : *groups) {
      group.holds_embedding = stage == 0;
      group.holds_head = stage + 1 == shape.pipeline_parallel();
    }
  }
  return terms::data_parallel_s(*sync_problem_, task, 0.0);
}

double TaskModel::reductions_s(const Shape& shape, std::span<const std::uint16_t> devices) const {
  const TaskPlan plan = task_plan(shape, devices, execution(shape), total_of(shape.sequences));
  return terms::data_parallel_s(*sync_problem_, work(plan), 0.0);
}

}  // namespace sextant::inline planner
