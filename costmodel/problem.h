// One question to the cost model: this workflow, laid out so, on that hardware, with those coefficients.
#pragma once

#include <utility>
#include <vector>

#include "costmodel/coefficient_values.h"
#include "costmodel/hardware.h"
#include "costmodel/work.h"

namespace sextant {

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

  [[nodiscard]] const T& coefficient(CoefficientId id) const { return coefficients.at(id); }
  [[nodiscard]] const T& coefficient(CoefficientId id, DeviceId device) const {
    return coefficients.at(id, hardware.type_index(device));
  }
};

// G_{L_ij}^t of HetRL B.1: stage j of replica i of task t.
template <typename T>
struct StageOfTask {
  const Problem<T>& problem;
  const TaskWork& task;
  int replica = 0;  // i
  int stage = 0;    // j

  [[nodiscard]] const Replica& replica_plan() const {
    return task.plan->replicas[static_cast<std::size_t>(replica)];
  }
  [[nodiscard]] const Stage& stage_plan() const {
    return replica_plan().stages[static_cast<std::size_t>(stage)];
  }
  [[nodiscard]] const ReplicaWork& work() const { return task.replicas[static_cast<std::size_t>(replica)]; }
  [[nodiscard]] const Model& model() const { return *task.model; }
  [[nodiscard]] double tensor_parallel() const { return stage_plan().tensor_parallel(); }  // TP_j
  [[nodiscard]] double layers() const { return stage_plan().layers; }                      // nl_j
  [[nodiscard]] bool is_first() const { return stage == 0; }
  [[nodiscard]] bool is_last() const { return stage + 1 == replica_plan().pipeline_parallel(); }
  [[nodiscard]] bool is_training() const { return task.kind() == TaskKind::training; }

  // Weights of this stage over all its devices: layers, and the embedding and head that live here.
  [[nodiscard]] double parameters() const {
    return slice_parameters(model(), stage_plan().layers, is_first(), is_last());
  }
};

// Largest value of f over the devices of a stage (max over k).
template <typename T, typename F>
[[nodiscard]] T max_over_devices(const Stage& stage, F f) {
  T largest = f(stage.devices.front());
  for (std::size_t k = 1; k < stage.devices.size(); ++k) {
    const T value = f(stage.devices[k]);
    if (largest < value) largest = value;
  }
  return largest;
}

}  // namespace sextant
