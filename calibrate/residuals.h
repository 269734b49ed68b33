// The measured times of a set of runs as residuals: log(predicted / measured) in units of their uncertainty.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "calibrate/parameters.h"
#include "costmodel/iteration.h"
#include "costmodel/vocabulary/run.h"

namespace sextant {

// Repeats of one configuration differ by at least so much from rerun to rerun, however small the spread
// within one run is (shared/data: 1 to 3 % inside a log, 4 to 21 % between reruns).
inline constexpr double kLeastLogDeviation = 0.04;

// Times below this share of the iteration are compared with this share added to both sides: nobody plans by
// them, and their relative error would drown the rest.
inline constexpr double kNegligibleFraction = 0.002;

inline constexpr const char* kIteration = "iteration";

// One measured time. Refers to runs, which must outlive it.
struct MeasuredTime {
  const Runs* runs = nullptr;
  const Run* run = nullptr;
  std::string what;  // a task's name, kWeightSync or kIteration
  double measured_s = 0;
  double spread_fraction = 0;
  double negligible_s = 0;

  [[nodiscard]] double log_deviation() const {
    return std::sqrt(spread_fraction * spread_fraction + kLeastLogDeviation * kLeastLogDeviation);
  }
};

// Every time of the selected runs: their tasks, weight sync where it was measured, the iteration.
[[nodiscard]] std::vector<MeasuredTime> measured_times(const Runs& runs,
                                                       const std::vector<std::string>& selected);

// The model's value of a measured time.
template <typename T>
[[nodiscard]] T predicted_s(const MeasuredTime& time, const std::vector<Parameter>& parameters,
                            const T* coordinates) {
  const Workflow& workflow = time.runs->workflow_of(*time.run);
  const Plan& plan = time.runs->plan_of(*time.run);
  Hardware<T> hardware(time.runs->cluster_of(*time.run), workflow.precision);
  CoefficientValues<T> values = values_from(parameters, coordinates, hardware, time.run->framework);
  const Problem<T> problem(workflow, plan, std::move(hardware), std::move(values));
  if (time.what == kIteration) return iteration_cost(problem).iteration_s;
  if (time.what == kWeightSync) return plan_weight_sync_s(problem);
  const Task& task = workflow.task(time.what);
  return task_cost(problem, work_of(task, plan.tasks.at(task.name), workflow)).time_s;
}

// log((predicted + negligible) / (measured + negligible)).
template <typename T>
[[nodiscard]] T log_error(const MeasuredTime& time, const T& predicted_s) {
  using std::log;
  return log((predicted_s + time.negligible_s) / (time.measured_s + time.negligible_s));
}

}  // namespace sextant
