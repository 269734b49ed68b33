// A Markov chain over plans that cools down: a step gives one task, drawn evenly, another of its choices, drawn
// evenly; both are as likely as the way back. Whether it is taken says acceptance.h.
//
// Where plans can be composed of what options say of themselves (space/composed_plan.h) steps are, and the
// evaluator is asked about the start, about what is better than all before, and about what only might not fit.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "planner/search/search_run.h"

namespace sextant {

// Of one set of devices those that follow each other point to the same.
struct TaskChoice {
  const std::vector<std::uint16_t>* devices = nullptr;
  const Option* option = nullptr;  // as long as the run's table
};

[[nodiscard]] Placement placement_of(const Evaluator& evaluator, int task, const TaskChoice& choice);

// From `start` on, which counts as the first of `steps`, as long as the run has budget. choices: by task, none
// of them empty. The best on the way, the start included.
Scored cool_down(SearchRun& run, const std::vector<std::vector<TaskChoice>>& choices, const Candidate& start,
                 std::uint64_t steps, std::mt19937_64& random);

}  // namespace sextant
