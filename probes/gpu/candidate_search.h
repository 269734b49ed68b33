// Finds the fastest of several equivalent candidates by timing: pure, over a function that times.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "probes/harness/clock.h"

namespace sextant::inline probes {

// Returns the seconds of one execution if `candidate` is executed `repeats` times in a row; nullopt on failure.
using TimeCandidate = std::function<std::optional<double>(std::size_t candidate, int repeats)>;

struct CandidateChoice {
  std::size_t chosen = 0;
  int tried = 0;  // candidates with a time; 0: all failed
};

// Runs each candidate at least once, the first one always, the others while `budget_s` lasts; those close to
// the fastest in two more rounds. A time is measured over executions that last min_s together, and the median
// of the rounds counts.
[[nodiscard]] CandidateChoice find_fastest(std::size_t candidates, const TimeCandidate& time, double min_s,
                                           double budget_s, const Clock& clock = steady_clock());

}  // namespace sextant::inline probes
