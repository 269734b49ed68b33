// The cheapest group of given jobs: the ground of the optimum and of the lower bound.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "planner/coschedule/group.h"

namespace sextant::coschedule {

// The largest training pool that a group of jobs can use: what its largest job needs or, if pools may grow, what all
// of them need alone.
[[nodiscard]] int max_training_nodes(std::span<const Job* const> jobs, bool training_may_grow);

// Empty if these jobs cannot share a group. For at most kMaxMembers jobs; throws Error(machine) for more.
[[nodiscard]] std::optional<Group> cheapest_group(std::span<const Job* const> jobs, const Pools& pools,
                                                  bool training_may_grow);

// Pins the jobs to `rollout_nodes` nodes so that no node is used for longer than `period_s` by turns and every host
// holds its suspended states; calls `look` with the nodes by job for each such pinning, except renumbered
// ones, until it returns true. Returns whether it did. Jobs of one node have few pinnings; those of many nodes cannot
// all be tried: every step takes one from `steps_left`, and none are taken after the last.
inline constexpr int kMaxPinningSteps = 20'000;  // of all sizes of a group
[[nodiscard]] bool any_pinning(std::span<const Job* const> jobs, const Pools& pools, int rollout_nodes,
                               double period_s, int& steps_left,
                               const std::function<bool(const std::vector<std::vector<int>>&)>& look);

}  // namespace sextant::coschedule
