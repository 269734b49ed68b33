// Levels 4 and 5 of HetRL's search (section 3.2) by local search from a plan: other options of single tasks,
// swaps of tasklets, layers and sequences split by speed (4.2). Each step that improves the plan is taken.
#pragma once

#include <cstdint>
#include <random>

#include "planner/sha_ea/arrangement.h"

namespace sextant::inline planner {

struct PolishLimits {
  std::uint64_t evaluations = 0;  // maximum number
  bool balances_load = true;      // layers and batch shares
  bool moves_tasklets = true;     // from one device to another
};

// Improves `scored` in place, as long as the run has budget. The evaluator's current candidate is the result.
void polish(SearchRun& run, const PolishLimits& limits, std::mt19937_64& random, Scored& scored);

}  // namespace sextant::inline planner
