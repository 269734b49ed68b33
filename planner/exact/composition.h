// A bound of an iteration from bounds of its groups: HetRL B.4 (costmodel/iteration.h) for groups of tasks that
// share all of their devices and none with other groups.
//
// Groups of tasks of one kind run in parallel, and a group's tasks one after the other:
//   Phi = eta m + (1 - eta) s,   m = max over groups of the group's sum, s = sum of all.
// Without overlap of generation an iteration is the sum of its phases. It has two bounds, and the larger one
// counts: by the phases' own bounds; and for every group by the sum over its tasks, which accounts for their
// joint memory, plus the phases in which it takes no part.
#pragma once

#include <span>

#include "planner/exact/group_costs.h"

namespace sextant {

class Composition {
 public:
  // All must outlive the object.
  Composition(const UnitSpace& space, const SyncCost& sync, const GroupCosts& costs);

  // Lower bound of a plan whose groups have these tasks and at least these costs. transfer_s: of the weight
  // sync between the devices of its two sides. other_use_s: minimum time of weights that other tasks use, whose
  // transfer overlaps it.
  [[nodiscard]] double bound_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                               double transfer_s, double other_use_s = 0) const;

  // The group that contains the task; -1 if the task is -1 (no weight sync).
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
