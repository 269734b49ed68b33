// A Markov chain over plans with falling temperature: a step gives a random task another of its choices, both
// drawn uniformly, so that a step is as likely as its reverse. acceptance.h decides whether it is accepted.
//
// If plans can be composed of their options (space/composed_plan.h), steps are costed in this way. The
// evaluator then costs only the start, plans better than all before, and plans that may not fit in memory.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "planner/search/search_run.h"

namespace sextant::inline planner {

// Choices with the same device set are adjacent and point to the same vector.
struct TaskChoice {
  const std::vector<std::uint16_t>* devices = nullptr;
  const Option* option = nullptr;  // valid as long as the run's table
};

[[nodiscard]] Placement placement_of(const Evaluator& evaluator, int task, const TaskChoice& choice);

// Runs the chain from `start`, which counts as the first of `steps`, while the run has budget. choices: by
// task, none empty. Returns the best plan of the chain, including the start.
Scored cool_down(SearchRun& run, const std::vector<std::vector<TaskChoice>>& choices, const Candidate& start,
                 std::uint64_t steps, std::mt19937_64& random);

}  // namespace sextant::inline planner
