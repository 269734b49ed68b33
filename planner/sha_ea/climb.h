// Levels 1 to 3 from a good deal on: a task joins another group or leaves for its own, two change places, a
// unit goes to another group, two groups exchange units; the first step that makes the plan better is taken,
// until none does. Ours: arms that halving left because of a bad size or deal are reached from their
// neighbours.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "planner/sha_ea/arrangement.h"
#include "planner/sha_ea/deal.h"

namespace sextant {

// A grouping with its deal, at one size of units.
struct DealtGroups {
  TaskGrouping grouping;
  Deal deal;

  friend bool operator==(const DealtGroups&, const DealtGroups&) = default;
};

// Groups numbered as their first tasks are, those without tasks left out with their units given to the first.
[[nodiscard]] DealtGroups renumbered(const DealtGroups& dealt);

// The same devices in smaller units, of which `finer` has a multiple in every class.
[[nodiscard]] DealtGroups in_finer_units(DealtGroups dealt, const std::vector<UnitClass>& coarser,
                                         const std::vector<UnitClass>& finer);

// Every neighbour, in random order.
[[nodiscard]] std::vector<DealtGroups> neighbours_of(const DealtGroups& dealt, std::mt19937_64& random);

// look: scores one and says whether it is better than all before; is_over: asked before each.
void climb(DealtGroups& dealt, std::mt19937_64& random, const std::function<bool(const DealtGroups&)>& look,
           const std::function<bool()>& is_over);

}  // namespace sextant
