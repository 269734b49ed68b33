// HetRL's Algorithm 1 (section 3.4) alone, as the paper writes it, to compare planners with. Nested successive
// halving has task groupings as arms at level 1 and the numbers of GPUs of their groups at level 2. In an arm
// an evolutionary algorithm finds levels 3 to 5: which GPUs a group has, the degrees of every task, which GPU
// holds which tasklet. There is no local search over plans, no proof, no merging of searches, and one thread.
//
// The paper leaves some things open, and this is how they are read:
// - There are too many GPU groupings to look at each (18.7 million for six groups of 64 GPUs). Where the first
//   round has no plan for each of them, as many as it has are drawn, all equally likely.
// - A wall-clock budget becomes a number of plans by the rate at which plans were costed so far.
// - A population has 8 individuals. A mutation changes one of the levels 3 to 5, each equally often. In three
//   mutations of level 3 out of ten, a group that trains gets a faster GPU.
// - The tasklets of an individual take the GPUs of their group replica by replica, stage by stage or in random
//   order, each equally often. GPUs of machines that nothing tells apart are told apart by their order alone.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Without a budget it searches for one second. It may end before its budget is spent, when the last arm has had
// its part. Throws Error(bad_input) for objectives other than time and for pinned tasks.
[[nodiscard]] PlanResult plan_by_sha_ea_paper(const PlanRequest& request);

// "Pure SHA" of section 6: the same halving, but plans of an arm are drawn at random and nothing evolves.
[[nodiscard]] PlanResult plan_by_sha_random(const PlanRequest& request);

}  // namespace sextant::inline planner
