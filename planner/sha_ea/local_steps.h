// Levels 1 to 3 by local search from a good assignment: a task takes another task's units, a part of its own,
// or others; two tasks swap sets; units join sets, leave them, or move between them; two regions exchange
// units. The first step that improves the plan is taken, until none does. This is an addition of Sextant: it
// reaches arms that halving dropped because of a bad size or assignment, and overlapping sets and idle units,
// which HetRL's groups cannot represent.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "planner/sha_ea/device_sets.h"

namespace sextant::inline planner {

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
    move_units,       // `units` of a region move to the sets `to`
    exchange_units,   // one unit of each of two regions
  };
  Kind kind = Kind::join;
  int a = 0, b = 0;       // tasks
  bool is_alone = false;  // the units leave all other sets
  std::size_t unit_class = 0, other_class = 0;
  SetMask from = 0, to = 0;
  int units = 1;
};

// disjoint: the steps may still contain steps to overlapping sets, which `look` must reject; groups merge in
// one step. With overlapping sets two steps do that, one set after the other.
enum class ClimbedSets { overlapping, disjoint };

// All possible steps, in random order.
[[nodiscard]] std::vector<Step> steps_from(const DeviceSets& sharing, ClimbedSets sets,
                                           std::mt19937_64& random);

// Returns the normalized result; nullopt if a set would be empty or nothing would change.
[[nodiscard]] std::optional<DeviceSets> applied(const Step& step, const DeviceSets& sharing);

// look: scores the sets and returns whether they are better than all before; is_over: called before each.
void climb(DeviceSets& sharing, ClimbedSets sets, std::mt19937_64& random,
           const std::function<bool(const DeviceSets&)>& look, const std::function<bool()>& is_over);

}  // namespace sextant::inline planner
