// The meaning of the timers in a verl log: which are phases of a step, which tasks they time, and what a step
// contains in addition to training.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/import/verl/verl_log.h"
#include "calibrate/import/verl/verl_setup.h"

namespace sextant::verl_timers {

inline const std::string kSeconds = "timing_s/";  // a phase's key starts with it; values in seconds

// Renames phases that forks call otherwise, where verl's own is missing.
void use_usual_names(VerlLog& log);

// Whether the log is from an asynchronous trainer, by metrics that only these print. Their `gen` is a wait.
[[nodiscard]] bool is_asynchronous(const std::vector<VerlStep>& steps);

// False for a part of another timer, for the whole step, and for entries that are not times.
[[nodiscard]] bool is_phase(const std::string& phase);
[[nodiscard]] double phases_s(const VerlStep& step);  // their sum

// Returns the time of training alone, without validation and saving.
[[nodiscard]] double iteration_s(const VerlStep& step);

// Returns, by phase, the name of the timer in a run.
[[nodiscard]] std::map<std::string, std::string> timers_of(const std::vector<const VerlStep*>& steps);
[[nodiscard]] VerlTasks tasks_of(const std::vector<VerlStep>& steps);

}  // namespace sextant::verl_timers
