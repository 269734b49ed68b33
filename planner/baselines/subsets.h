// All tasks on a part of the cluster that a user would name: one type, one zone, some of its nodes, a part of a
// node.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/planner.h"

namespace sextant::inline planner {

// The devices of each part, as nodes (neighbouring nodes of one type together in large parts, pieces of nodes in
// parts of one or two nodes): of every type of every zone, every type and every zone, with 1, 2, 4, ... and all of
// its nodes, with all but the few that keep their number from being a multiple of 2, 4, 8, ... (of 125 nodes 124, 120, 112,
// 96), and 1, 2, 4, ... devices of its first node. Parts are named once, the whole cluster not at all; the smallest is
// first.
using ClusterPart = std::vector<std::vector<std::uint16_t>>;
[[nodiscard]] std::vector<ClusterPart> cluster_parts_of(const Cluster& cluster);

// Puts all tasks on each part with the best degrees, and generation on some nodes of it and the rest on the
// others where they may run at the same time; then improves the best plans as verl-colocated does. Goals of
// time begin with the parts that may be fastest with even shares, and leave out those whose lower bound
// (exact/bound.h) is above the best plan so far or PlanRequest::start; other goals begin with the smallest. Tasks
// cannot be pinned.
[[nodiscard]] PlanResult plan_by_subsets(const PlanRequest& request);

// True if the devices of one type alone may be faster than all devices with even shares, which are as slow as the
// slowest of them: compares lower bounds. False for other goals than time, and if all devices have one type.
[[nodiscard]] bool is_type_first(const PlanRequest& request);

}  // namespace sextant::inline planner
