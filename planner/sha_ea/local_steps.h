// Levels 1 to 3 from a good deal on: a task takes another task's units, a part of its own, or others; two tasks
// change places; units join sets, leave them, or go from one to another; two regions exchange units. The first
// step that makes the plan better is taken, until none does. Ours: arms that halving left because of a bad size
// or deal are reached from their neighbours, and so are sets that overlap and units that stay idle, which
// HetRL's groups cannot have.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "planner/sha_ea/device_sets.h"

namespace sextant {

struct Step {
  enum class Kind {
    join,             // task a takes the set of task b
    merge,            // the tasks of both sets have the units of both
    exchange_tasks,   // a and b change sets
    take_half,        // a takes half of its units
    take_region,      // a takes `units` of a region
    take_class,       // a takes all units of a class
    take_all,         // a takes all units
    take_union,       // a takes its units and those of b
    take_difference,  // a takes its units without those of b
    move_units,       // `units` of a region belong to the sets `to`
    exchange_units,   // one unit of each of two regions
  };
  Kind kind = Kind::join;
  int a = 0, b = 0;       // tasks
  bool is_alone = false;  // what a task takes leaves all other sets
  std::size_t unit_class = 0, other_class = 0;
  SetMask from = 0, to = 0;
  int units = 1;
};

// disjoint: steps to sets that overlap may be among the steps all the same, for `look` to refuse; groups merge,
// which where sets may overlap one of them after the other does.
enum class ClimbedSets { overlapping, disjoint };

// All that can be tried, in random order.
[[nodiscard]] std::vector<Step> steps_from(const DeviceSets& sharing, ClimbedSets sets,
                                           std::mt19937_64& random);

// Normalized. Nothing where a set would be empty or everything would stay as it is.
[[nodiscard]] std::optional<DeviceSets> applied(const Step& step, const DeviceSets& sharing);

// look: scores one and says whether it is better than all before; is_over: asked before each.
void climb(DeviceSets& sharing, ClimbedSets sets, std::mt19937_64& random,
           const std::function<bool(const DeviceSets&)>& look, const std::function<bool()>& is_over);

}  // namespace sextant
