// Levels 3 to 5 from a plan on, over all that the search has looked at: tasks take, one at a time, any set of
// devices with any of its options that was costed for them in any plan, however bad that plan was. A Markov
// chain as ReaL's (mcmc/chain.h) over sets that halving and climbs chose in place of meshes; a step costs a
// look-up.
//
// Ours: climbs give every task the fastest of its options that fit and change one set at a time, and so miss
// plans in which one task takes a slower option for another's sake.
#pragma once

#include <cstdint>
#include <random>

#include "planner/sha_ea/arrangement.h"

namespace sextant {

// own: the sets that the tasks have, of which they take other options alone.
enum class RecombinedSets { seen, own };

// Improves `scored` in place, in at most `steps`, as long as the run has budget.
void recombine(SearchRun& run, const SeenSets& seen, std::uint64_t steps, std::mt19937_64& random,
               Scored& scored, RecombinedSets sets = RecombinedSets::seen);

}  // namespace sextant
