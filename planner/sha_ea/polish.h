// Levels 4 and 5 of HetRL's search (section 3.2) from a plan on: other options of single tasks, tasklets that
// change places, layers and sequences dealt by speed (4.2). Each step is taken where the plan gets better.
#pragma once

#include <cstdint>
#include <random>

#include "planner/sha_ea/arrangement.h"

namespace sextant {

struct PolishLimits {
  std::uint64_t evaluations = 0;  // at most so many
  bool balances_load = true;      // layers and batch shares
  bool moves_tasklets = true;     // from one device to another
};

// Improves `scored` in place, as long as the run has budget. The evaluator's current candidate is the result.
void polish(SearchRun& run, const PolishLimits& limits, std::mt19937_64& random, Scored& scored);

}  // namespace sextant
