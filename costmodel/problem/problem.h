// The input of one prediction: a workflow, its layout, the hardware and the coefficients.
#pragma once

#include <utility>
#include <vector>

#include "costmodel/problem/coefficient_values.h"
#include "costmodel/problem/hardware.h"
#include "costmodel/problem/work.h"

namespace sextant::inline costmodel {

// Refers to the cluster, workflow and plan that it was made from; they must outlive it and have passed
// check_plan.
template <typename T>
struct Problem {
  Problem(const Workflow& the_workflow, const Plan& the_plan, Hardware<T> the_hardware,
          CoefficientValues<T> the_coefficients)
      : workflow(the_workflow),
        plan(the_plan),
        hardware(std::move(the_hardware)),
        coefficients(std::move(the_coefficients)) {}

  const Workflow& workflow;
  const Plan& plan;
  Hardware<T> hardware;
  CoefficientValues<T> coefficients;

  [[nodiscard]] const Cluster& cluster() const { return hardware.cluster(); }
  [[nodiscard]] const T& coefficient(CoefficientId id) const { return coefficients.at(id); }
  [[nodiscard]] const T& coefficient(CoefficientId id, DeviceId device) const {
    return coefficients.at(id, hardware.type_index(device));
  }
  [[nodiscard]] TaskWork work(const Task& task) const {
    return work_of(task, plan.tasks.at(task.name), workflow, cluster());
  }
};

// G_{L_ij}^t of HetRL B.1: stage j of replica i of task t, where replica i is the first of its class.
template <typename T>
struct StageOfTask {
  const Problem<T>& problem;
  const TaskWork& task;
  int of_class = 0;  // index into TaskWork::classes
  int stage = 0;     // j

  [[nodiscard]] int replica() const { return task.classes[static_cast<std::size_t>(of_class)].replica; }
  [[nodiscard]] const Replica& replica_plan() const {
    return task.plan->replicas[static_cast<std::size_t>(replica())];
  }
  [[nodiscard]] const Stage& stage_plan() const {
    return replica_plan().stages[static_cast<std::size_t>(stage)];
  }
  [[nodiscard]] const Stage& next_stage_plan() const {
    return replica_plan().stages[static_cast<std::size_t>(stage) + 1];
  }
  [[nodiscard]] const ReplicaWork& work() const { return task.replicas[static_cast<std::size_t>(replica())]; }
  [[nodiscard]] const Model& model() const { return *task.model; }
  [[nodiscard]] const Execution& execution() const { return task.plan->execution; }
  [[nodiscard]] double tensor_parallel() const { return task.plan->tensor_parallel(stage_plan()); }  // TP_j
  [[nodiscard]] double context_parallel() const { return execution().context_parallel; }
  [[nodiscard]] double width() const { return stage_plan().width(); }  // devices that share the work
  [[nodiscard]] double layers() const { return stage_plan().layers; }  // nl_j
  [[nodiscard]] bool is_first() const { return stage == 0; }
  [[nodiscard]] bool is_last() const { return stage + 1 == replica_plan().pipeline_parallel(); }
  [[nodiscard]] bool is_training() const { return task.kind() == TaskKind::training; }
  [[nodiscard]] bool is_generation() const { return task.kind() == TaskKind::generation; }

  // Weights of this stage over all its devices: its layers, and the embedding and head if it holds them.
  [[nodiscard]] double parameters() const {
    return slice_parameters(model(), stage_plan().layers, is_first(), is_last());
  }
  // The tensor-parallel group of the stage (of its first context-parallel part).
  [[nodiscard]] std::span<const DeviceId> tensor_group() const {
    return std::span<const DeviceId>(stage_plan().devices).first(static_cast<std::size_t>(tensor_parallel()));
  }
  // Returns one device of each type in the stage.
  [[nodiscard]] const std::vector<DeviceId>& kinds() const {
    return task.kinds[static_cast<std::size_t>(of_class)][static_cast<std::size_t>(stage)];
  }
};

// Largest value of f over the devices of a stage (max over k): devices of one type cost the same.
template <typename T, typename F>
[[nodiscard]] T max_over_devices(const StageOfTask<T>& s, F f) {
  const std::vector<DeviceId>& devices = s.kinds();
  T largest = f(devices.front());
  for (std::size_t k = 1; k < devices.size(); ++k) {
    const T value = f(devices[k]);
    if (largest < value) largest = value;
  }
  return largest;
}

}  // namespace sextant::inline costmodel
