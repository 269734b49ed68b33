// Levels 4 and 5 of HetRL's search (section 3.2) from a plan on: other options of single tasks, tasklets that
// change places, layers and sequences dealt by speed (4.2). Each step is taken where the plan gets better.
#pragma once

#include <cstdint>
#include <functional>
#include <random>

#include "planner/sha_ea/arrangement.h"

namespace sextant {

struct PolishLimits {
  std::uint64_t evaluations = 0;  // at most so many
  bool balances_load = true;      // layers and batch shares
  std::function<bool()> is_over;  // asked now and then; may be empty
};

// Improves `scored` in place; returns the evaluations that it took. The evaluator's current candidate is the
// result.
std::uint64_t polish(Evaluator& evaluator, OptionTable& options, const PolishLimits& limits,
                     std::mt19937_64& random, Scored& scored);

}  // namespace sextant
