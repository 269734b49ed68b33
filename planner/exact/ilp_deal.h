// The first half of HetRL's integer program (section 3.5): the tasks that share devices, and their
// units.
//
// A group is identified by its first task: slot g is open if task g is the first of a group. In each class of
// units a slot has a run; runs are consecutive, longer ones first, and of equal ones that of the lower slot,
// like in devices_of_groups. If all units of a class are on one machine the position of a run is irrelevant and
// only its length is a variable.
#pragma once

#include <map>

#include "planner/exact/milp.h"
#include "planner/exact/unit_space.h"

namespace sextant::inline planner {

using MilpTerms = std::vector<MilpTerm>;

// A task grouping with the number of units of each of its groups, of any classes.
struct IlpGroups {
  TaskGrouping grouping;
  std::vector<int> units;  // by group
};

class IlpAssignment {
 public:
  // Adds its variables and rows to `problem`. Both must outlive the object.
  IlpAssignment(UnitSpace& space, MilpProblem& problem);

  [[nodiscard]] int slots() const { return space_.tasks(); }
  // Binary variable: task is in slot <= task.
  [[nodiscard]] int in_slot(int task, int slot) const {
    return in_slot_[static_cast<std::size_t>(task)][static_cast<std::size_t>(slot)];
  }
  // Binary variable: the slot's devices are this block, one of the space's blocks from 0 on.
  [[nodiscard]] int has_block(int slot, int block) const {
    return has_block_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(block)];
  }
  [[nodiscard]] int blocks() const { return static_cast<int>(share_of_block_.size()); }
  [[nodiscard]] int share_of_block(int block) const { return share_of_block_[static_cast<std::size_t>(block)]; }

  // Adds rows that only assignments with these groups fulfil.
  void fix_groups(const IlpGroups& groups);

  // Values of the variables for a choice, for the start of the solver.
  [[nodiscard]] std::vector<MilpValue> values_of(const UnitChoice& choice) const;
  // Variables of the choice's runs in a slot, by class: with all of them at one the slot has these units.
  [[nodiscard]] std::vector<int> runs_of(const UnitChoice& choice, int slot) const;
  // Slot by group: that of its first task.
  [[nodiscard]] static std::vector<int> slots_of(const TaskGrouping& grouping);

  // A location that links distinguish: a single unit, or a class whose units are on one machine.
  struct Place {
    std::size_t of_class = 0;
    int unit = -1;  // -1: any of the class
  };
  [[nodiscard]] std::vector<Place> places() const;
  // Terms whose sum is at least one if the slot has units there.
  [[nodiscard]] MilpTerms presence(int slot, const Place& place) const;

 private:
  using RunVariables = std::map<UnitRun, int>;

  [[nodiscard]] std::vector<UnitRun> taken_runs(const UnitChoice& choice, std::size_t of_class) const;
  void add_tasks();
  void add_runs(std::size_t of_class);
  void lay_runs(std::size_t of_class);
  void add_blocks();
  void link_blocks(int slot, std::size_t of_class);
  void keep_pins(int slot);
  [[nodiscard]] bool is_placed(std::size_t of_class) const;

  UnitSpace& space_;
  MilpProblem& problem_;
  std::vector<std::vector<int>> in_slot_;
  std::vector<std::vector<RunVariables>> runs_;  // by class, then slot: runs by their location in the class
  std::vector<std::vector<int>> has_block_;      // by slot
  std::vector<int> share_of_block_;
};

}  // namespace sextant::inline planner
