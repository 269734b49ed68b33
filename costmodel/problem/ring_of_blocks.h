// The ring that walks around a spanning tree of blocks of members that are alike.
#pragma once

#include <optional>

#include "costmodel/problem/ring.h"
#include "costmodel/problem/ring_costs.h"

namespace sextant::ring {

// Where no ring is faster: every ring holds a spanning tree, so none has a faster slowest edge than the best
// tree's, and the walk around that tree passes a block as often as the tree has edges there. Nothing where
// blocks have too few members for that, links inside them are slower, or costs differ by direction.
[[nodiscard]] std::optional<BottleneckRing> ring_around_tree(const Blocks& blocks, const Costs& between,
                                                             std::span<const DeviceId> members);

}  // namespace sextant::ring
