#include "costmodel/predict.h"

#include <algorithm>

#include "core/units.h"
#include "costmodel/iteration.h"
#include "costmodel/memory.h"
#include "costmodel/timeline.h"

namespace sextant {
namespace {

std::string percent_of(double part, double whole) { return format_percent(whole > 0 ? part / whole : 0, 0); }

std::string bottleneck_sentence(const Prediction& prediction, const Workflow& workflow) {
  const Task* slowest = nullptr;
  for (const Task& task : workflow.tasks) {
    if (slowest == nullptr ||
        prediction.tasks.at(task.name).time_s > prediction.tasks.at(slowest->name).time_s) {
      slowest = &task;
    }
  }
  if (slowest == nullptr) return "no tasks";
  const TaskPrediction& task = prediction.tasks.at(slowest->name);
  const auto term = std::max_element(task.terms_s.begin(), task.terms_s.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return slowest->name + " takes " + percent_of(task.time_s, prediction.iteration_s) + " of the iteration, " +
         percent_of(term->second, task.time_s) + " of it " + std::string(name_of(term->first)) + " (replica " +
         std::to_string(task.critical_replica) + ", stage " + std::to_string(task.critical_stage) + ")";
}

bool overlaps_generation(const Workflow& workflow, const Plan& plan) {
  std::set<DeviceId> generation;
  std::vector<std::set<DeviceId>> others;
  for (const Task& task : workflow.tasks) {
    const std::set<DeviceId> devices = plan.tasks.at(task.name).devices();
    if (task.kind == TaskKind::generation) {
      generation = devices;
    } else {
      others.push_back(devices);
    }
  }
  std::vector<const std::set<DeviceId>*> references;
  references.reserve(others.size());
  for (const std::set<DeviceId>& devices : others) references.push_back(&devices);
  return generation_overlaps(workflow.mode, generation, references);
}

// How long training waits for its parts of a batch that is still being made: where it may not be made ahead.
double wait_for_parts_s(const Workflow& workflow, const std::vector<TimedSpan<double>>& spans) {
  double generation = 0, rest = 0;
  for (std::size_t t = 0; t < spans.size(); ++t) {
    double& end = workflow.tasks[t].kind == TaskKind::generation ? generation : rest;
    end = std::max(end, spans[t].end_s);
  }
  return workflow.staleness < 1 ? streamed_s(workflow, generation, rest) - rest : 0;
}

// Start and end of every task in one iteration. An asynchronous plan's generation works on the next batch, so
// nothing of this iteration waits for it.
void place_in_time(Prediction& prediction, const Workflow& workflow, const Plan& plan) {
  const bool overlaps = overlaps_generation(workflow, plan);
  std::vector<std::set<DeviceId>> devices;
  for (const Task& task : workflow.tasks) devices.push_back(plan.tasks.at(task.name).devices());
  std::vector<TimedTask<double>> tasks;
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const Task& task = workflow.tasks[t];
    TimedTask<double> entry{prediction.tasks.at(task.name).time_s, &devices[t], {}};
    for (const int parent : parents_of(workflow, task)) {
      const bool crosses =
          overlaps && workflow.tasks[static_cast<std::size_t>(parent)].kind == TaskKind::generation;
      if (!crosses) entry.after.push_back(parent);
    }
    tasks.push_back(std::move(entry));
  }
  const std::vector<TimedSpan<double>> spans = simulate_timeline(tasks);
  const double wait_s = overlaps ? wait_for_parts_s(workflow, spans) : 0;
  for (std::size_t t = 0; t < spans.size(); ++t) {
    TaskPrediction& task = prediction.tasks.at(workflow.tasks[t].name);
    const double waited_s = workflow.tasks[t].kind == TaskKind::generation ? 0 : wait_s;
    task.start_s = spans[t].start_s + waited_s;
    task.end_s = spans[t].end_s + waited_s;
  }
}

}  // namespace

Prediction predict(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                   const Coefficients& coefficients, std::string_view framework) {
  check_plan(plan, workflow, cluster);
  Hardware<double> hardware(cluster);
  CoefficientValues<double> values = resolve(coefficients, hardware, framework);
  const Problem<double> problem(workflow, plan, std::move(hardware), std::move(values));
  const std::vector<TaskWork> works = works_of(workflow, plan, cluster);
  const IterationCost<double> cost = iteration_cost(problem, std::span<const TaskWork>(works));

  Prediction prediction;
  prediction.workflow = workflow.name;
  prediction.plan = plan.name;
  prediction.cluster = cluster.name();
  prediction.weight_sync_s = cost.weight_sync_s;
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    TaskPrediction task;
    task.time_s = cost.tasks[t].time_s;
    for (int term = 0; term < kTermCount; ++term) {
      task.terms_s[static_cast<Term>(term)] = cost.tasks[t].terms_s[static_cast<std::size_t>(term)];
    }
    task.critical_replica = cost.tasks[t].critical_replica;
    task.critical_stage = cost.tasks[t].critical_stage;
    const std::set<DeviceId> devices = plan.tasks.at(workflow.tasks[t].name).devices();
    task.devices.assign(devices.begin(), devices.end());
    prediction.tasks[workflow.tasks[t].name] = std::move(task);
  }
  place_in_time(prediction, workflow, plan);
  prediction.iteration_s = cost.iteration_s;
  prediction.sequences_per_s = workflow.sequences() / prediction.iteration_s;
  prediction.memory = plan_memory(works, cluster, problem.coefficients, problem.hardware);
  prediction.host_memory = host_memory(works, cluster);
  prediction.bottleneck = bottleneck_sentence(prediction, workflow);
  return prediction;
}

}  // namespace sextant
