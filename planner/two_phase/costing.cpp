#include "planner/two_phase/costing.h"

#include <algorithm>
#include <limits>

#include "costmodel/iteration.h"
#include "planner/search/search_run.h"

namespace sextant::inline planner {

Costing::Costing(const PlanRequest& request, Workflow workflow)
    : request_(request), workflow_(std::move(workflow)), rooms_(free_memory_by_device(request)) {
  sync_plan_.weight_sync = request.weight_sync;
  Hardware<double> hardware(request.cluster, workflow_.precision);
  CoefficientValues<double> values = resolve(request.coefficients, hardware, request.framework);
  sync_problem_ =
      std::make_unique<const Problem<double>>(workflow_, sync_plan_, std::move(hardware), std::move(values));
  int training = 0;
  if (workflow_.has_weight_sync())
    training = static_cast<int>(&workflow_.actor_training() - workflow_.tasks.data());
  for (int t = 0; t < task_count(); ++t)
    models_.emplace_back(task(t), std::vector<Execution>{execution(t)}, execution(training), *sync_problem_,
                         request.memory_share);
}

ChoicePtr Costing::cost(int task, TaskPlan plan) const {
  auto choice = std::make_shared<Choice>();
  choice->plan = std::move(plan);
  choice->plan.execution = execution(task);
  choice->work = work_of(this->task(task), choice->plan, workflow_, cluster());
  choice->time_s = task_cost(*sync_problem_, choice->work).time_s;
  const auto type_of = [this](DeviceId device) { return sync_problem_->hardware.type_index(device); };
  choice->memory = task_memory(choice->work, sync_problem_->coefficients, type_of, true);
  for (TaskMemory<double>& of : choice->memory) {
    of.scale_reserved(request_.memory_share);
    const double room = free_memory_bytes(of.device);
    choice->resident_fraction = std::max(choice->resident_fraction, of.resident_bytes / room);
    choice->working_fraction = std::max(choice->working_fraction, of.working_bytes / room);
    choice->need_fraction = std::max(choice->need_fraction, (of.resident_bytes + of.working_bytes) / room);
  }
  if (!workflow_.has_weight_sync()) return choice;
  const Task& of = this->task(task);
  if (&of == &workflow_.actor_training()) {
    choice->sync_s =
        terms::reshard_s(*sync_problem_, choice->work) + terms::assembling_s(*sync_problem_, choice->work);
  } else if (&of == &workflow_.actor_generation()) {
    choice->sync_s =
        terms::usual_fetching_s(*sync_problem_, model(task).sent_bytes() * terms::largest_part(choice->work));
  }
  return choice;
}

double Costing::state_bytes(int task) const {
  const int layers = workflow_.model_of(this->task(task)).layers;
  const TaskPlan plan = one_device_plan({}, layers, {}, workflow_.sequences());
  const TaskWork work = work_of(this->task(task), plan, workflow_, cluster());
  return stage_memory(work, 0, 0).state_bytes;
}

double Costing::first_replica_s(int task, const TaskPlan& plan) const {
  const TaskWork work = work_of_first_replica(this->task(task), plan, workflow_, cluster());
  return task_parts::replica_cost(*sync_problem_, work, 0).time_s;
}

std::vector<PlacedTask<double>> Costing::placed(const Choices& choices) const {
  const bool is_custom = workflow_.algorithm == Algorithm::custom;
  static const std::set<DeviceId> none;
  std::vector<PlacedTask<double>> placed;
  for (std::size_t t = 0; t < choices.size(); ++t) {
    const Task& task = workflow_.tasks[t];
    std::vector<int> after = is_custom ? parents_of(workflow_, task) : std::vector<int>{};
    const Choice* choice = choices[t].get();
    placed.push_back({task.kind, choice == nullptr ? 0.0 : choice->time_s,
                      choice == nullptr ? &none : &choice->work.devices, std::move(after)});
  }
  return placed;
}

double Costing::working_s(const Choices& choices) const {
  const std::vector<PlacedTask<double>> tasks = placed(choices);
  const double eta = sync_problem_->coefficient(CoefficientId::task_overlap);
  return work_of_tasks(workflow_, std::span<const PlacedTask<double>>(tasks), eta).total_s;
}

double Costing::moved_s(const Choices& choices) const {
  const auto work_of = [&](std::size_t t) -> const TaskWork& { return choices[t]->work; };
  return longest_s(plan_weight_transfers(*sync_problem_, work_of)) + plan_data_s(*sync_problem_, work_of);
}

double Costing::iteration_s(const Choices& choices) const {
  const auto work_of = [&](std::size_t t) -> const TaskWork& { return choices[t]->work; };
  const std::vector<PlacedTask<double>> tasks = placed(choices);
  const double eta = sync_problem_->coefficient(CoefficientId::task_overlap);
  return work_and_weights_s(workflow_, std::span<const PlacedTask<double>>(tasks),
                            plan_weight_transfers(*sync_problem_, work_of), eta) +
         plan_data_s(*sync_problem_, work_of) + iteration_overhead_s(workflow_, sync_problem_->coefficients);
}

double Costing::excess_bytes(const Choices& choices) const {
  struct Need {
    double resident = 0, working = 0;
  };
  std::vector<Need> needs(rooms_.size());
  std::vector<char> is_used(rooms_.size(), 0);
  for (const ChoicePtr& choice : choices) {
    if (choice == nullptr) continue;
    for (const TaskMemory<double>& of : choice->memory) {
      const auto device = static_cast<std::size_t>(of.device.value);
      needs[device].resident += of.resident_bytes;
      needs[device].working = std::max(needs[device].working, of.working_bytes);
      is_used[device] = 1;
    }
  }
  double maximum = -std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < needs.size(); ++d) {
    if (is_used[d] != 0) maximum = std::max(maximum, needs[d].resident + needs[d].working - rooms_[d]);
  }
  return maximum;
}

Plan Costing::plan_of(const Choices& choices) const {
  Plan plan;
  plan.weight_sync = request_.weight_sync;
  for (std::size_t t = 0; t < choices.size(); ++t) plan.tasks[workflow_.tasks[t].name] = choices[t]->plan;
  return plan;
}

std::vector<DeviceId> device_ids(const std::vector<std::uint16_t>& devices) {
  std::vector<DeviceId> ids;
  ids.reserve(devices.size());
  for (const std::uint16_t device : devices) ids.push_back(DeviceId{device});
  return ids;
}

}  // namespace sextant::inline planner
