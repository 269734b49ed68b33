#include "planner/evaluate/task_model.h"

#include <algorithm>

#include "costmodel/memory.h"
#include "costmodel/task.h"
#include "costmodel/terms/weight_sync.h"

namespace sextant {
namespace {

// The devices of a cluster that a part of a task leaves, in their order: for the rest of the task, which is
// somewhere.
class Others {
 public:
  Others(std::span<const std::uint16_t> part, int devices) : is_taken_(static_cast<std::size_t>(devices)) {
    for (const std::uint16_t device : part) is_taken_[device] = true;
  }
  std::uint16_t next() {
    while (is_taken_[next_]) ++next_;
    return static_cast<std::uint16_t>(next_++);
  }

 private:
  std::vector<bool> is_taken_;
  std::size_t next_ = 0;
};

int total_of(const std::vector<int>& parts) {
  int sum = 0;
  for (const int part : parts) sum += part;
  return sum;
}

}  // namespace

TaskModel::TaskModel(const Task& task, const Execution& execution, const Execution& training,
                     const Problem<double>& frame)
    : task_(&task),
      execution_(execution),
      frame_(&frame),
      is_separable_(execution.zero_stage < 3 && execution.expert_parallel <= 1) {
  const Workflow& workflow = frame.workflow;
  if (!workflow.has_weight_sync()) return;
  is_actor_training_ = task.name == workflow.actor_training().name;
  is_actor_generation_ = task.name == workflow.actor_generation().name;
  if (!is_actor_training_ && !is_actor_generation_) return;
  auto trained = std::make_unique<Trained>();
  Shape shape;
  shape.layers = {workflow.model_of(workflow.actor_training()).layers};
  shape.sequences = {workflow.sequences()};
  trained->plan = task_plan(shape, {0}, training, workflow.sequences());
  trained->work = work_of(workflow.actor_training(), trained->plan, workflow, frame.cluster());
  trained_ = std::move(trained);
}

TaskPlan TaskModel::plan(const Shape& shape, const Placement& placement) const {
  return task_plan(shape, placement.devices, execution_, total_of(shape.sequences));
}

double TaskModel::sent_bytes() const { return terms::sent_bytes(*frame_, trained_->work); }
double TaskModel::handover_s() const { return terms::handover_s(*frame_, trained_->work); }

TaskWork TaskModel::work(const TaskPlan& plan) const {
  return work_of(*task_, plan, frame_->workflow, frame_->cluster());
}

void TaskModel::add_sync(const TaskWork& work, ReplicaValue& value) const {
  if (is_actor_training_) {
    value.gather_s = terms::fastest_gather_s(*frame_, work);
    value.copied_s = terms::assembling_s(*frame_, work);
    value.fetched_s = terms::fetched_s(*frame_, work);
  }
  if (is_actor_generation_) {
    value.gather_s = terms::slowest_gather_s(*frame_, work, sent_bytes());
    value.copied_s = terms::delivering_s(*frame_, trained_->work, work);
  }
}

void TaskModel::add_memory(const TaskWork& work, bool all, ReplicaValue& value) const {
  const auto type_of = [this](DeviceId device) { return frame_->hardware.type_index(device); };
  for (const TaskMemory<double>& of : task_memory(work, frame_->coefficients, type_of, all)) {
    value.resident_bytes.push_back(of.resident_bytes);
    value.working_bytes.push_back(of.working_bytes);
    value.most_resident_bytes = std::max(value.most_resident_bytes, of.resident_bytes);
    value.most_working_bytes = std::max(value.most_working_bytes, of.working_bytes);
  }
}

ReplicaValue TaskModel::replica(const Shape& shape, std::span<const std::uint16_t> devices,
                                int sequences) const {
  // The replica first, with its share; the others take theirs in turn.
  Shape turned = shape;
  const auto own = std::find(shape.sequences.begin(), shape.sequences.end(), sequences);
  SEXTANT_CHECK(own != shape.sequences.end());
  std::rotate(turned.sequences.begin(), turned.sequences.begin() + (own - shape.sequences.begin()),
              turned.sequences.end());
  std::vector<std::uint16_t> all(devices.begin(), devices.end());
  Others others(devices, frame_->cluster().device_count());
  while (all.size() < static_cast<std::size_t>(shape.devices())) all.push_back(others.next());
  const TaskPlan plan = task_plan(turned, all, execution_, total_of(shape.sequences));
  TaskWork task = work(plan);
  task.classes.resize(1);
  task.kinds.resize(1);
  ReplicaValue value;
  const TaskCost<double> cost = detail::replica_cost(*frame_, task, 0);
  value.time_s = cost.time_s;
  value.compute_s = cost.term(Term::compute);
  value.micro_batches = task.replicas.front().micro_batches;
  if (is_training()) value.optimizer_s = detail::slowest_optimizer_s(*frame_, task);
  add_sync(task, value);
  add_memory(task, false, value);
  return value;
}

ReplicaValue TaskModel::whole(const Shape& shape, std::span<const std::uint16_t> devices) const {
  const TaskPlan plan =
      task_plan(shape, {devices.begin(), devices.end()}, execution_, total_of(shape.sequences));
  const TaskWork task = work(plan);
  ReplicaValue value;
  TaskCost<double> slowest;
  for (std::size_t c = 0; c < task.classes.size(); ++c) {
    const TaskCost<double> cost = detail::replica_cost(*frame_, task, static_cast<int>(c));
    if (c == 0 || slowest.time_s < cost.time_s) slowest = cost;
  }
  value.time_s = slowest.time_s;
  value.compute_s = slowest.term(Term::compute);
  value.micro_batches = task.replicas.front().micro_batches;
  if (is_training()) value.optimizer_s = detail::slowest_optimizer_s(*frame_, task);
  add_sync(task, value);
  add_memory(task, true, value);
  return value;
}

double TaskModel::reduction_s(const Shape& shape, int stage, std::span<const std::uint16_t> devices) const {
  std::vector<std::uint16_t> all;
  Others others(devices, frame_->cluster().device_count());
  std::size_t own = 0;
  for (int position = 0; position < shape.devices(); ++position) {
    const int of_stage = position % shape.replica_devices() / shape.tensor_parallel;
    all.push_back(of_stage == stage ? devices[own++] : others.next());
  }
  const TaskPlan plan = task_plan(shape, all, execution_, total_of(shape.sequences));
  TaskWork task = work(plan);
  int first = 0;
  for (int j = 0; j < stage; ++j) first += shape.layers[static_cast<std::size_t>(j)];
  std::erase_if(task.gradient_groups, [&](const GradientGroup& group) { return group.first_layer != first; });
  return terms::data_parallel_s(*frame_, task, 0.0);
}

double TaskModel::reductions_s(const Shape& shape, std::span<const std::uint16_t> devices) const {
  const TaskPlan plan =
      task_plan(shape, {devices.begin(), devices.end()}, execution_, total_of(shape.sequences));
  return terms::data_parallel_s(*frame_, work(plan), 0.0);
}

}  // namespace sextant
