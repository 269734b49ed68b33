// Accuracy on runs that a fit never saw, fold by fold.
//
// Random folds are optimistic: runs of one model, plan or machine share their errors. Leaving out a whole group
// is the realistic test. Every fold is fitted from the priors, never from a fit that saw its held-out runs.
//
// Intervals: the spread of a held-out prediction combines the spread of the coefficients (posterior.h) with
// that of the model. The latter is scaled so that the requested share of the other folds' held-out errors is
// covered (a conformal correction), so coverage is measured on data that the interval never saw either.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/accuracy.h"
#include "calibrate/fit_result.h"

namespace sextant::inline calibrate {

struct Fold {
  std::string name;  // the value that is left out
  std::vector<std::string> fit;
  std::vector<std::string> held_out;
};

// Returns one fold per value of the key; needs two values. Runs with an empty key are fitted in every fold.
[[nodiscard]] std::vector<Fold> leave_one_out(const Runs& runs,
                                              const std::function<std::string(const Run&)>& key);

// Like leave_one_out, in at most `max_folds` folds: each leaves out several groups, drawn by a seeded shuffle.
[[nodiscard]] std::vector<Fold> leave_groups_out(const Runs& runs,
                                                 const std::function<std::string(const Run&)>& key,
                                                 int max_folds, unsigned seed);

// Returns k folds of runs from a seeded shuffle; the same on every machine.
[[nodiscard]] std::vector<Fold> random_folds(const Runs& runs, int k, unsigned seed);

// Returns `draws` folds: each is fitted to `count` random runs and holds out the rest.
[[nodiscard]] std::vector<Fold> few_runs(const Runs& runs, int count, int draws, unsigned seed);

// The usual keys: the first model that trains or generates, the device types, and the band of the number of
// devices that the plan uses: "8 to 15 devices", from a power of two to below the next one.
[[nodiscard]] std::string model_of(const Runs& runs, const Run& run);
[[nodiscard]] std::string device_types_of(const Runs& runs, const Run& run);
[[nodiscard]] std::string scale_of(const Runs& runs, const Run& run);

// The property by which a fold leaves out runs.
enum class LeaveOut { model, plan, workflow, cluster, device_type, framework, scale, run };
inline constexpr std::array<std::string_view, 8> kLeaveOutNames{
    "model", "plan", "workflow", "cluster", "device_type", "framework", "scale", "run"};
[[nodiscard]] std::function<std::string(const Run&)> group_key(const Runs& runs, LeaveOut what);
// Returns the first of model, workflow, plan and run with at least four values; nullopt if there is none.
[[nodiscard]] std::optional<LeaveOut> customary_leave_out(const Runs& runs);

struct HeldOut {
  std::string run;
  std::string what;  // timer, kIteration or kPeakMemory
  std::string fold;
  double measured = 0;
  double predicted = 0;
  double low = 0;  // 90 % interval
  double high = 0;
  double log_variance = 0;  // variance of the log prediction, from the coefficients alone

  [[nodiscard]] double error_fraction() const { return predicted / measured - 1; }
  [[nodiscard]] bool covered() const { return low <= measured && measured <= high; }
};

struct CrossValidation {
  std::vector<HeldOut> times;
  int folds = 0;
  int free_coefficients = 0;  // maximum over the folds

  using Filter = std::function<bool(const HeldOut&)>;
  [[nodiscard]] ErrorSummary errors(const Filter& filter = {}) const;
  [[nodiscard]] double coverage(const Filter& filter = {}) const;
  [[nodiscard]] double log_deviation(const Filter& filter = {}) const;  // 90 % quantile of |log error| / 1.645
};

// Returns the summary for the coefficients document. It ranks predictions by fits that did not see the run; if
// the folds split a group of alternatives, several fits contribute. `runs` are those that were cross-validated,
// each held out at most once.
[[nodiscard]] HeldOutSummary summary_of(const Runs& runs, const CrossValidation& validation, LeaveOut what);

[[nodiscard]] CrossValidation cross_validate(const Runs& runs, const std::vector<Fold>& folds,
                                             const FitOptions& options = {}, const Coefficients& start = {});

}  // namespace sextant::inline calibrate
