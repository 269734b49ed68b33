// The accuracy of predictions on runs that the fit did not see.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sextant/document.h"
#include "sextant/fit_summary.h"
#include "sextant/json.h"

namespace sextant::inline calibrate {

// The name of the whole iteration, used in place of a task's name.
inline constexpr const char* kIteration = "iteration";

// One measured time and its prediction.
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

// The time that an iteration waited for a task (Run::waits), measured and predicted. Its error is relative to
// the iteration, because a wait may be zero and is a difference of two times.
struct ComparedWait {
  std::string run;
  std::string task;
  double measured_s = 0;
  double predicted_s = 0;
  double iteration_s = 0;  // measured; predicted if it was not measured
  bool held_out = true;

  // |predicted - measured| / iteration
  [[nodiscard]] double error_fraction() const;
  friend bool operator==(const ComparedWait&, const ComparedWait&) = default;
};

// The largest memory of a device in one run, measured and predicted.
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
  double mape = 0;  // mean absolute error, as a fraction of the measured value
  double median = 0;
  double p90 = 0;
  double worst = 0;
  friend bool operator==(const ErrorSummary&, const ErrorSummary&) = default;
};

// Summarises errors, which may be empty.
[[nodiscard]] ErrorSummary summarise(const std::vector<double>& errors);
// Summarises waits of held-out or in-sample runs, as fractions of the iteration.
[[nodiscard]] ErrorSummary summarise(const std::vector<ComparedWait>& waits);

struct Accuracy {
  static constexpr std::string_view kKind = "accuracy";
  static constexpr SchemaVersion kVersion{1, 0};

  std::vector<ComparedTime> times;
  ErrorSummary held_out_tasks;  // every task time of held-out runs
  ErrorSummary held_out_iterations;
  ErrorSummary in_sample_tasks;  // runs that the fit saw
  ErrorSummary in_sample_iterations;
  std::map<std::string, ErrorSummary> held_out_by_task;
  std::vector<ComparedMemory> memories;  // runs that state their peak memory
  ErrorSummary held_out_memories;
  ErrorSummary in_sample_memories;
  std::vector<ComparedWait> waits;  // runs that state waits
  double rank_correlation = 0;      // Spearman, held-out iteration times
  std::optional<PlanOrder> order;   // held-out iterations; nullopt if no plans are alternatives
  double interval_coverage = 0;     // share of held-out times inside their 90 % interval
  bool has_intervals = false;

  friend bool operator==(const Accuracy&, const Accuracy&) = default;
  static Accuracy parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::inline calibrate
