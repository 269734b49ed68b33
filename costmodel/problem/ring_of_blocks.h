// The ring that follows a spanning tree of blocks of equivalent members.
#pragma once

#include <optional>

#include "costmodel/problem/ring.h"
#include "costmodel/problem/ring_costs.h"

namespace sextant::ring {

// Returns the ring if it is optimal: every ring contains a spanning tree, so none has a faster slowest edge
// than the best tree, and the walk around it passes a block as often as the tree has edges there. Returns
// nullopt if blocks have too few members for that, links inside them are slower, or costs differ by direction.
[[nodiscard]] std::optional<BottleneckRing> ring_around_tree(const Blocks& blocks, const Costs& between,
                                                             std::span<const DeviceId> members);

}  // namespace sextant::ring
