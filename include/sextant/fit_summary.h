// What a coefficients document says about the fit that made it: which runs, how well, and what they taught.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sextant/json.h"
#include "sextant/precision.h"
#include "sextant/workflow.h"

namespace sextant {

// A combination of coefficients about which the runs know more than the priors. In units of prior deviations it
// is a vector of length one, and `remaining` of the prior's variance along it is left (0: known exactly).
// All that is orthogonal to every such direction keeps its prior.
struct LearnedDirection {
  double remaining = 1;
  std::vector<int> of;        // positions in Coefficients::values
  std::vector<double> parts;  // along each

  friend bool operator==(const LearnedDirection&, const LearnedDirection&) = default;
};

// How predictions order plans that are alternatives for one another, and what choosing by them costs. Only
// where there are such plans.
struct PlanOrder {
  int groups = 0;          // of alternatives: plans of one workflow for one cluster and framework, two or more
  int pairs = 0;           // of plans within a group
  double kendall_tau = 0;  // tau-b of each group, weighted by its pairs
  // The plan that is predicted fastest, against the fastest: measured time / its measured time - 1.
  double mean_regret_fraction = 0;  // over the groups
  double worst_regret_fraction = 0;

  friend bool operator==(const PlanOrder&, const PlanOrder&) = default;
  static PlanOrder parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// How predictions compared with runs that fits of the same data had not seen.
struct HeldOutSummary {
  std::string left_out;  // what each fold leaves out: "plan", "model", ...
  int folds = 0;
  int tasks = 0;  // compared times
  int iterations = 0;
  double task_mape = 0;
  double iteration_mape = 0;
  int memories = 0;  // compared peaks of a device's memory
  double memory_mape = 0;
  double coverage_90 = 0;  // of all times by their intervals
  // What the model itself leaves beside the spread of its coefficients, as deviations of the logarithm: such
  // that 90 % of the held-out errors lie in their intervals.
  double task_log_deviation = 0;
  double iteration_log_deviation = 0;
  double memory_log_deviation = 0;  // where there are memories
  std::optional<PlanOrder> order;   // by iteration times; none where no plans are alternatives

  friend bool operator==(const HeldOutSummary&, const HeldOutSummary&) = default;
};

// One kind of task as a calibrated run laid it out: what a prediction is near to, or far from.
struct TaskExperience {
  std::string run;  // the first of those that are alike in all that follows
  std::string framework;
  TaskKind kind = TaskKind::inference;
  std::vector<std::string> device_types;  // ascending
  Precision precision = Precision::bf16;
  bool experts = false;
  bool tensor_parallel_between_nodes = false;
  double parameters = 0;
  double sequence_tokens = 0;
  double replica_sequences = 0;  // the largest share of the batch
  double tensor_parallel = 1;
  double pipeline_parallel = 1;
  double data_parallel = 1;
  double nodes = 1;

  friend bool operator==(const TaskExperience&, const TaskExperience&) = default;
};

// Absent from coefficients that nobody fitted.
struct FitSummary {
  std::vector<std::string> runs;  // names of the runs that the fit saw
  int residuals = 0;
  int free_coefficients = 0;  // that the runs depend on at all
  bool converged = false;
  std::string message;  // why it stopped
  double initial_cost = 0;
  double final_cost = 0;
  double task_log_deviation = 0;       // spread of log(predicted / measured) in sample, task times
  double iteration_log_deviation = 0;  // same, iteration times
  double memory_log_deviation = 0;     // same, peaks of a device's memory; 0: no run has one
  std::vector<LearnedDirection> directions;
  std::optional<HeldOutSummary> held_out;
  std::vector<TaskExperience> experience;
  std::vector<std::string> outliers;  // runs whose errors the robust loss held down, worst first

  friend bool operator==(const FitSummary&, const FitSummary&) = default;
  static FitSummary parse(const JsonView& view, std::size_t values);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
