#include "lab/reproduce/equal_degrees.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "planner/request/candidate.h"
#include "planner/verify/verify.h"
#include "sextant/predict.h"

namespace sextant::inline lab {
namespace {

using Devices = std::vector<std::uint16_t>;

TaskPlan task_on(const Devices& devices, const StudyCell& cell, std::size_t task, int tensor_parallel,
                 int micro_batch) {
  const int sequences = static_cast<int>(cell.workflow.sequences());
  Shape shape;
  shape.tensor_parallel = tensor_parallel;
  shape.micro_batch_sequences = micro_batch;
  shape.layers = {cell.workflow.model_of(cell.workflow.tasks[task]).layers};
  shape.sequences = dealt_evenly(sequences, static_cast<int>(devices.size()) / tensor_parallel);
  return task_plan(shape, devices, cell.executions.empty() ? Execution{} : cell.executions.at(task), sequences);
}

Plan plan_on(const Devices& generating, const Devices& others, const StudyCell& cell, int tensor_parallel,
             int micro_batch) {
  Plan plan{"equal degrees", {}, {}, cell.weight_sync};
  for (std::size_t t = 0; t < cell.workflow.tasks.size(); ++t) {
    const Task& task = cell.workflow.tasks[t];
    plan.tasks[task.name] =
        task_on(task.kind == TaskKind::generation ? generating : others, cell, t, tensor_parallel, micro_batch);
  }
  return plan;
}

// The last device of each machine, plus one.
std::vector<std::size_t> ends_of_machines(const Cluster& cluster) {
  std::vector<std::size_t> ends;
  for (const Node& node : cluster.nodes())
    ends.push_back((ends.empty() ? 0 : ends.back()) + static_cast<std::size_t>(node.devices));
  return ends;
}

}  // namespace

PlanResult plan_with_equal_degrees(const StudyCell& cell, const Cluster& cluster, int tensor_parallel,
                                   const Coefficients& coefficients, std::string_view framework) {
  Devices all(static_cast<std::size_t>(cluster.device_count()));
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  PlanResult best;
  best.message = "no plan with tensor parallelism " + std::to_string(tensor_parallel) + " fits";
  double best_s = std::numeric_limits<double>::infinity();
  const auto offer = [&](const Devices& generating, const Devices& others) {
    if (std::min(generating.size(), others.size()) < static_cast<std::size_t>(tensor_parallel)) return;
    for (const int micro_batch : {1, 2, 4, 8, 16}) {
      const Plan plan = plan_on(generating, others, cell, tensor_parallel, micro_batch);
      ++best.candidates;
      if (!verify_plan(cluster, cell.workflow, plan, coefficients, framework).feasible()) continue;
      const double iteration_s = predict(cluster, cell.workflow, plan, coefficients, framework).iteration_s;
      if (iteration_s >= best_s) continue;
      best_s = iteration_s;
      best.outcome = PlanOutcome::found;
      best.plan = plan;
    }
  };
  if (cell.workflow.mode == Mode::synchronous) {
    offer(all, all);
    return best;
  }
  for (const std::size_t end : ends_of_machines(cluster)) {
    if (end == all.size()) continue;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(end);
    offer(Devices(all.begin(), middle), Devices(middle, all.end()));
  }
  return best;
}

}  // namespace sextant::inline lab
