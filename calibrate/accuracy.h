// How far predictions are from measurements, on runs that the fit did not see.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sextant/document.h"
#include "sextant/fit_summary.h"
#include "sextant/json.h"

namespace sextant {

// What stands for a task's name where a time is that of the whole iteration.
inline constexpr const char* kIteration = "iteration";

// One measured time beside its prediction.
struct ComparedTime {
  std::string run;
  std::string task;  // task name, "weight_sync", kIteration, or elapsed_name of a task
  double measured_s = 0;
  double measured_spread_fraction = 0;
  double predicted_s = 0;
  bool held_out = true;  // the fit did not see this run

  // |predicted / measured - 1|
  [[nodiscard]] double error_fraction() const;
  friend bool operator==(const ComparedTime&, const ComparedTime&) = default;
};

// What an iteration waited for a task (Run::waits), beside the prediction. Relative to the iteration: a wait
// may be zero, and is the difference of two sides.
struct ComparedWait {
  std::string run;
  std::string task;
  double measured_s = 0;
  double predicted_s = 0;
  double iteration_s = 0;  // measured; predicted where it was not
  bool held_out = true;

  // |predicted - measured| / iteration
  [[nodiscard]] double error_fraction() const;
  friend bool operator==(const ComparedWait&, const ComparedWait&) = default;
};

// The largest memory of a device in one run, beside its prediction.
struct ComparedMemory {
  std::string run;
  double measured_bytes = 0;
  double predicted_bytes = 0;
  bool held_out = true;

  // |predicted / measured - 1|
  [[nodiscard]] double error_fraction() const;
  friend bool operator==(const ComparedMemory&, const ComparedMemory&) = default;
};

struct ErrorSummary {
  int count = 0;
  double mape = 0;  // mean absolute error, as a fraction of what was measured
  double median = 0;
  double p90 = 0;
  double worst = 0;
  friend bool operator==(const ErrorSummary&, const ErrorSummary&) = default;
};

// Of any errors, none included.
[[nodiscard]] ErrorSummary summarise(const std::vector<double>& errors);
// Shares of the iteration, of runs held out or not.
[[nodiscard]] ErrorSummary summarise(const std::vector<ComparedWait>& waits);

struct Accuracy {
  static constexpr std::string_view kKind = "accuracy";
  static constexpr SchemaVersion kVersion{1, 0};

  std::vector<ComparedTime> times;
  ErrorSummary held_out_tasks;  // every task time of held-out runs
  ErrorSummary held_out_iterations;
  ErrorSummary in_sample_tasks;  // of runs that the fit saw
  ErrorSummary in_sample_iterations;
  std::map<std::string, ErrorSummary> held_out_by_task;
  std::vector<ComparedMemory> memories;  // of the runs that carry their peak
  ErrorSummary held_out_memories;
  ErrorSummary in_sample_memories;
  std::vector<ComparedWait> waits;  // of the runs that carry some
  double rank_correlation = 0;      // Spearman, held-out iteration times
  std::optional<PlanOrder> order;   // held-out iterations; none where no plans are alternatives
  double interval_coverage = 0;     // share of held-out times inside their 90 % interval
  bool has_intervals = false;

  friend bool operator==(const Accuracy&, const Accuracy&) = default;
  static Accuracy parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
