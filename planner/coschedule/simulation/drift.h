// Length drift over the run of a job (section 6.6): lengths of responses grow or shrink as the model learns.
//
// The paper has seven templates: none, and increasing or decreasing at 0.5, 1 and 1.5 times what was seen in production.
// Its Figure 16 is a picture, so the size is ours: at 1, responses are half as long again at the end, in proportion to
// the iterations done; decreasing templates are mirrored (divided by the same factor).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "planner/coschedule/job.h"
#include "planner/coschedule/tail.h"

namespace sextant::coschedule {

inline constexpr std::array kDriftTemplates = {0.0, 0.5, 1.0, 1.5, -0.5, -1.0, -1.5};
inline constexpr double kDriftGrowth = 0.5;
inline constexpr int kDriftSteps = 10;  // of a run, in which lengths do not change

// The settings of Figure 17: each job gets one of the templates with this direction or without drift, or of all.
enum class DriftSetting { none, increasing, decreasing, mixed };

// The template of a drawn number below 1.
[[nodiscard]] double drift_template(DriftSetting setting, double drawn);

// Lengths over those at the start, after that share of the iterations.
[[nodiscard]] double length_factor(double drift, double progress);

// Phases of a typical iteration alone. Jobs without lengths have both phases in proportion to the factor, also beyond
// their bounds; with lengths, none exceeds the maximum.
[[nodiscard]] PhaseTimes drifted_times(const Job& job, double factor);

// The job with bounds or lengths that are what drift made of them: what is resubmitted.
[[nodiscard]] Job with_drifted_profile(const Job& job, double factor);

}  // namespace sextant::coschedule
