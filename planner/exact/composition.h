// A bound of an iteration from bounds of its groups: HetRL B.4 (costmodel/iteration.h) for groups of tasks that
// share all of their devices and none with other groups.
//
// Groups of tasks of one kind run in parallel, and a group's tasks one after the other:
//   Phi = eta m + (1 - eta) s,   m = max over groups of the group's sum, s = sum of all.
// Without overlap of generation an iteration is the sum of its phases. m is at least the phases' own bounds; and for
// every group the sum over its tasks, which accounts for their joint memory, plus the phases in which it takes no
// part. Trainings in several groups may hide the transfer of weights (costmodel/weight_transfers.h): then it follows
// the trainings of its own groups only.
#pragma once

#include <span>

#include "planner/exact/group_costs.h"

namespace sextant::inline planner {

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
  // Lower bounds of weights on their way.
  struct Transfers {
    int training = -1, generation = -1;  // groups of the actor's; -1: no weight sync
    double actor_s = 0;                  // of the actor's weights to generation
    double shared_s = 0;                 // the part of it in the sum of the group that trains and generates
    double longest_s = 0;                // of all
    double trained_s = 0;                // trainings that the actor's transfer waits for
    bool may_be_hidden = false;

    [[nodiscard]] bool shares() const { return training >= 0 && training == generation; }
  };
  [[nodiscard]] double phase_s(const Phases& phases, std::size_t kind) const {
    return eta_ * phases.longest_s[kind] + (1 - eta_) * phases.sum_s[kind];
  }
  [[nodiscard]] double path_s(TaskSet group, const GroupCost& cost, const Phases& phases,
                              bool generates_beside) const;
  [[nodiscard]] Transfers transfers(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                                    double transfer_s, double other_use_s) const;
  [[nodiscard]] double beside_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                                const Phases& phases, const Transfers& transfers) const;
  [[nodiscard]] double in_turn_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                                 const Phases& phases, const Transfers& transfers) const;

  const Workflow& workflow_;
  const SyncCost& sync_;
  const GroupCosts& costs_;
  double eta_;
};

}  // namespace sextant::inline planner
