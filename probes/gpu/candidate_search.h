// The fastest of several ways to do the same, timed against each other: pure, over a function that times.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "probes/harness/clock.h"

namespace sextant {

// Seconds of one execution when `candidate` is executed that often in a row; nothing when it fails.
using TimeCandidate = std::function<std::optional<double>(std::size_t candidate, int repeats)>;

struct CandidateChoice {
  std::size_t chosen = 0;
  int tried = 0;  // have a time; 0: all failed
};

// Each candidate at least once, the first one always, the others as long as `budget_s` lasts; those that keep
// up in two rounds more. A time is of executions that last min_s together, and the median of the rounds
// counts.
[[nodiscard]] CandidateChoice find_fastest(std::size_t candidates, const TimeCandidate& time, double min_s,
                                           double budget_s, const Clock& clock = steady_clock());

}  // namespace sextant
