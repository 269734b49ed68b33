// Levels 3 to 5 from a plan, over everything that the search has costed: one task at a time takes any device
// set with any of its options that was costed in any plan, however bad that plan was. It is a Markov chain like
// ReaL's (mcmc/chain.h) over sets that halving and local search have chosen, instead of meshes; a step costs a
// look-up.
//
// This is an addition of Sextant: local search gives every task its fastest option that fits and changes one
// set at a time, so it misses plans in which one task takes a slower option for the benefit of another.
#pragma once

#include <cstdint>
#include <random>

#include "planner/sha_ea/arrangement.h"

namespace sextant::inline planner {

// seen: any costed set. own: the tasks keep their sets and change their options only.
enum class RecombinedSets { seen, own };

// Improves `scored` in place with at most `steps` steps, while the run has budget.
void recombine(SearchRun& run, const SeenSets& seen, std::uint64_t steps, std::mt19937_64& random,
               Scored& scored, RecombinedSets sets = RecombinedSets::seen);

}  // namespace sextant::inline planner
