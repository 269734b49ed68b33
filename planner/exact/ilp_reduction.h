// Options that no plan within a given time can have. They are left out of the integer program, which is
// otherwise too large for a solver beyond 16 devices.
//
// A task that has an option on a block is in a group with some other tasks, and the remaining tasks have the
// remaining units. For each set of tasks that can share the block, phases last at least as long as the group's
// tasks of the kind one after another, and as the slowest of the others; composition.h has the same bound for
// whole assignments. An option is left out if the bounds of all sets are above that time.
#pragma once

#include <array>
#include <vector>

#include "planner/exact/group_costs.h"

namespace sextant::inline planner {

class IlpReduction {
 public:
  // Plans up to max_s seconds stay possible. The others must outlive the object.
  IlpReduction(UnitSpace& space, const SyncCost& sync, GroupCosts& costs, double max_s);

  // So many of the task's options on the block, from the fastest on, can be in such a plan.
  [[nodiscard]] std::size_t kept(int task, int block) const {
    return kept_[static_cast<std::size_t>(task)][static_cast<std::size_t>(block)];
  }
  [[nodiscard]] bool keeps_all() const { return keeps_all_; }

 private:
  using Times = std::array<double, kTaskKinds>;  // by kind of task
  struct Group {
    bool has_generation = false, is_generation = false;  // it has generation; and nothing else
    Times own_s{}, others_s{};  // of its other tasks, one after another; and of the slowest task elsewhere
    std::array<bool, kTaskKinds> has{};
    double packed_s = 0;  // its other tasks with the options that fit together
  };

  [[nodiscard]] std::size_t count_kept(int task, int block, int share);
  // False if these tasks cannot share the block, or the others have no place.
  [[nodiscard]] bool fill(TaskSet tasks, int task, int block, int share, Group& group);
  [[nodiscard]] double bound_s(const Group& group, std::size_t kind, double option_s) const;
  [[nodiscard]] std::size_t kind_of(int task) const;

  UnitSpace& space_;
  const SyncCost& sync_;
  GroupCosts& costs_;
  double max_s_;
  std::vector<std::vector<std::size_t>> kept_;  // by task, then block
  bool keeps_all_ = true;
};

}  // namespace sextant::inline planner
