// What the timers in a verl log mean: which are phases of a step, which tasks they time, and what the step
// holds beside training.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/import/verl/verl_log.h"
#include "calibrate/import/verl/verl_setup.h"

namespace sextant::verl_timers {

inline const std::string kSeconds = "timing_s/";  // a phase's key starts with it; values in seconds

// What only the asynchronous trainers print. Their `gen` is a wait.
[[nodiscard]] bool is_asynchronous(const std::vector<VerlStep>& steps);

// Not a part of another timer, nor the whole, nor what is no time at all.
[[nodiscard]] bool is_phase(const std::string& phase);
[[nodiscard]] double phases_s(const VerlStep& step);  // their sum

// Of training alone, without validation and saving.
[[nodiscard]] double iteration_s(const VerlStep& step);

// By phase, the name of the timer in a run.
[[nodiscard]] std::map<std::string, std::string> timers_of(const std::vector<VerlStep>& steps);
[[nodiscard]] VerlTasks tasks_of(const std::vector<VerlStep>& steps);

}  // namespace sextant::verl_timers
