// A summary of the fit in a coefficients document: the runs, the errors, and the coefficients they determined.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sextant/json.h"
#include "sextant/precision.h"
#include "sextant/workflow.h"

namespace sextant {

// A combination of coefficients that the runs determine better than the priors do. It is a vector of length one
// in units of prior deviations, and the share `remaining` of the prior's variance along it is left (0: known
// exactly). Every combination orthogonal to all learned directions keeps its prior.
struct LearnedDirection {
  double remaining = 1;
  std::vector<int> of;        // positions in Coefficients::values
  std::vector<double> parts;  // component along each of these

  friend bool operator==(const LearnedDirection&, const LearnedDirection&) = default;
};

// The order in which predictions put alternative plans, and the time lost by choosing according to it. Present
// only if there are alternative plans.
struct PlanOrder {
  int groups = 0;          // alternatives: two or more plans of one workflow for one cluster and framework
  int pairs = 0;           // pairs of plans within a group
  double kendall_tau = 0;  // tau-b of each group, weighted by its pairs
  // Measured time of the plan with the shortest prediction / measured time of the fastest plan - 1.
  double mean_regret_fraction = 0;  // over the groups
  double worst_regret_fraction = 0;

  friend bool operator==(const PlanOrder&, const PlanOrder&) = default;
  static PlanOrder parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// The errors of predictions on runs that were held out of the fit.
struct HeldOutSummary {
  std::string left_out;  // what each fold holds out: "plan", "model", ...
  int folds = 0;
  int tasks = 0;  // compared task times
  int iterations = 0;
  double task_mape = 0;
  double iteration_mape = 0;
  int memories = 0;  // compared peaks of a device's memory
  double memory_mape = 0;
  double coverage_90 = 0;  // share of all times that lie within their intervals
  // Deviations of the logarithm that the model itself leaves, in addition to the spread of its coefficients,
  // chosen such that 90 % of the held-out errors lie in their intervals.
  double task_log_deviation = 0;
  double iteration_log_deviation = 0;
  double memory_log_deviation = 0;  // 0 if there are no memories
  std::optional<PlanOrder> order;   // by iteration times; none if no plans are alternatives

  friend bool operator==(const HeldOutSummary&, const HeldOutSummary&) = default;
};

// Deviations of the logarithm that a model leaves in addition to the spread of its coefficients; 0: not known.
struct ModelDeviations {
  double task = 0;
  double iteration = 0;
  double memory = 0;

  friend bool operator==(const ModelDeviations&, const ModelDeviations&) = default;
};

// One kind of task as a calibrated run executed it; familiarity.h measures the distance of a prediction to it.
struct TaskExperience {
  std::string run;  // the first of the runs that agree in all members below
  std::string framework;
  TaskKind kind = TaskKind::inference;
  std::vector<std::string> device_types;  // ascending
  Precision precision = Precision::bf16;
  bool experts = false;
  bool tensor_parallel_between_nodes = false;
  double parameters = 0;
  double sequence_tokens = 0;
  double replica_sequences = 0;  // largest share of the batch of a replica
  double tensor_parallel = 1;
  double pipeline_parallel = 1;
  double data_parallel = 1;
  double nodes = 1;

  friend bool operator==(const TaskExperience&, const TaskExperience&) = default;
};

// Absent from coefficients that were not fitted.
struct FitSummary {
  std::vector<std::string> runs;  // names of the runs that the fit saw
  int residuals = 0;
  int free_coefficients = 0;  // free: the runs depend on it
  bool converged = false;
  std::string message;  // reason for stopping
  double initial_cost = 0;
  double final_cost = 0;
  double task_log_deviation = 0;       // spread of log(predicted / measured) in sample, task times
  double iteration_log_deviation = 0;  // same, iteration times
  double memory_log_deviation = 0;     // same, peaks of a device's memory; 0: no run has one
  std::vector<LearnedDirection> directions;
  std::optional<HeldOutSummary> held_out;
  // The fit from which this one started knew the model's errors so; far from the new runs they are as large still.
  std::optional<ModelDeviations> started_from;
  std::vector<TaskExperience> experience;
  std::vector<std::string> outliers;  // runs whose errors the robust loss reduced, worst first

  friend bool operator==(const FitSummary&, const FitSummary&) = default;
  static FitSummary parse(const JsonView& view, std::size_t values);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
