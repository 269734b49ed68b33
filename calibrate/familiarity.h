// Measures how near a plan's tasks are to those of calibrated runs; the word "extrapolating" if they are far.
//
// Distance between two tasks of one kind: root of the sum of squares of log ratios (or differences), each in
// steps that can change what limits a task:
//   model parameters x4, tokens of a sequence x4, sequences of a replica x8, tensor parallel x2, pipeline
//   parallel x4, data parallel x4, nodes x4; device type 1.5; framework, precision, experts, tensor parallel
//   between nodes 1.
// A task is far if one of its numbers lies more than a step outside the range of the runs of its kind, if its
// device type, framework (if one was requested), experts or precision never occurred with it, or if its nearest
// run is more than kFarDistance away.
#pragma once

#include <string>
#include <vector>

#include "calibrate/residuals.h"
#include "sextant/fit_summary.h"
#include "sextant/prediction.h"

namespace sextant::inline calibrate {

inline constexpr double kFarDistance = 2.5;

// Returns the experience of every task of a run, in the order of its workflow.
[[nodiscard]] std::vector<TaskExperience> experience_of(const PreparedRun& run);
// Returns the experience of all runs, without duplicates.
[[nodiscard]] std::vector<TaskExperience> experience_of(const std::vector<const PreparedRun*>& runs);

[[nodiscard]] double distance_between(const TaskExperience& a, const TaskExperience& b);

// Returns how far the numbers of a task lie outside the range of the runs of its kind: root of the sum of
// squares, in the steps above. 0 within the range; kFarDistance if no run is of its kind.
[[nodiscard]] double steps_outside(const TaskExperience& asked, const std::vector<TaskExperience>& seen);

// Returns the distance to the nearest run of its kind; infinite if there is none.
[[nodiscard]] double distance_to_nearest(const TaskExperience& asked, const std::vector<TaskExperience>& seen);

[[nodiscard]] Familiarity familiarity_of(const TaskExperience& asked, const std::vector<TaskExperience>& seen);

// The model's own errors, in addition to the spread of its coefficients, near the runs of a fit. Held-out runs show
// those of new runs. Without any only the errors in sample are known: they are small whatever the model is worth if
// the runs are few, because the fit followed them and because reruns of one configuration differ. So the spread of
// reruns (kRerunLogDeviation) counts as if some more runs had shown it. Memory is zero if no run has a peak.
inline constexpr double kRerunLogDeviation = 0.1;  // public logs: 4 to 21 %
[[nodiscard]] ModelDeviations deviations_near(const FitSummary& fit);

// The same at a distance from the nearest run. A fit that started from another one knows the model better near its
// runs only: the variance that the fit before had comes back as 1 - exp(-d^2), as if errors of configurations d steps
// apart were correlated by exp(-d^2 / 2).
[[nodiscard]] ModelDeviations deviations_at(const FitSummary& fit, double distance);

// Far from all runs: what a fit that starts from this one has to expect of the model.
[[nodiscard]] ModelDeviations deviations_far(const FitSummary& fit);

}  // namespace sextant::inline calibrate
