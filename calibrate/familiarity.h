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

namespace sextant {

inline constexpr double kFarDistance = 2.5;

// Returns the experience of every task of a run, in the order of its workflow.
[[nodiscard]] std::vector<TaskExperience> experience_of(const PreparedRun& run);
// Returns the experience of all runs, without duplicates.
[[nodiscard]] std::vector<TaskExperience> experience_of(const std::vector<const PreparedRun*>& runs);

[[nodiscard]] double distance_between(const TaskExperience& a, const TaskExperience& b);

// Returns how far the numbers of a task lie outside the range of the runs of its kind: root of the sum of
// squares, in the steps above. 0 within the range; kFarDistance if no run is of its kind.
[[nodiscard]] double steps_outside(const TaskExperience& asked, const std::vector<TaskExperience>& seen);

[[nodiscard]] Familiarity familiarity_of(const TaskExperience& asked, const std::vector<TaskExperience>& seen);

}  // namespace sextant
