// The bottleneck ring: min over rings of the slowest edge (HetRL B.2, all collective terms).
//
// Finding it is the bottleneck travelling salesman problem. For up to kExactRingSize members the answer is
// exact. For more it is bounded on both sides: `edge` belongs to a ring that exists (an upper bound) and
// `lower_s` is a bound that no ring can beat, the largest of
//   * for every member, the slower of the best edge into it and the best edge out of it from another member;
//   * the smallest t whose edges up to t keep all members strongly connected;
//   * the smallest t whose edges up to t leave no single member whose removal disconnects the rest.
//
// Members of one node are equivalent: steps between two nodes cost the same between any of their members. If
// blocks of such members are known, a ring around the spanning tree of blocks whose slowest edge is fastest is
// tried first: it passes a block as often as the tree has edges there, and if the blocks have that many members
// no ring is faster, at any size. Blocks that differ in nothing count as one if steps between them are no slower
// than inside, and where all steps between blocks cost the same, the answer is exact at any size.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "sextant/ids.h"

namespace sextant::inline costmodel {

inline constexpr int kExactRingSize = 12;

struct BottleneckRing {
  DeviceId from;  // the slowest edge of the ring that was found
  DeviceId to;
  double upper_s = 0;  // its cost
  double lower_s = 0;  // no ring is faster than this
  [[nodiscard]] bool exact() const { return lower_s >= upper_s; }
};

// members: at least two different devices; edge_s: cost of one step from one to another, >= 0.
[[nodiscard]] BottleneckRing find_bottleneck_ring(std::span<const DeviceId> members,
                                                  const std::function<double(DeviceId, DeviceId)>& edge_s);

// block_of: each member's block. A step costs the same between any members of two blocks, and inside a block.
[[nodiscard]] BottleneckRing find_bottleneck_ring(std::span<const DeviceId> members,
                                                  std::span<const int> block_of,
                                                  const std::function<double(DeviceId, DeviceId)>& edge_s);

}  // namespace sextant::inline costmodel
