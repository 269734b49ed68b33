// A bound of an iteration from bounds of its groups: HetRL B.4 (costmodel/iteration.h) for groups of tasks that
// share all of their devices and none with other groups.
//
// Of a kind of tasks, groups work beside each other and a group's tasks one after the other:
//   Phi = eta m + (1 - eta) s,   m = max over groups of the group's sum, s = sum of all.
// Where generation does not overlap, an iteration is the sum of its phases, and bounded twice: by the phases'
// own bounds, and for every group by the sum over its tasks, which knows that they must fit together, and by
// phases that it has no part in. The larger of both counts.
#pragma once

#include <span>

#include "planner/exact/group_costs.h"

namespace sextant {

class Composition {
 public:
  // All must outlive it.
  Composition(const UnitSpace& space, const SyncCost& sync, const GroupCosts& costs);

  // Lower bound of a plan whose groups have these tasks and cost no less.
  // transfer_s: of the weight sync between devices of its own sides. other_use_s: of weights that other tasks
  // use, which go beside it, at least.
  [[nodiscard]] double bound_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                               double transfer_s, double other_use_s = 0) const;

  // The group that generates or trains; -1 where there is no weight sync.
  [[nodiscard]] int group_with(std::span<const TaskSet> groups, int task) const;

 private:
  struct Phases {
    std::array<double, kTaskKinds> longest_s{};
    std::array<double, kTaskKinds> sum_s{};
  };
  [[nodiscard]] double by_group_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                                  const Phases& phases, int skipped, double shared_sync_s) const;

  const Workflow& workflow_;
  const SyncCost& sync_;
  const GroupCosts& costs_;
  double eta_;
};

}  // namespace sextant
