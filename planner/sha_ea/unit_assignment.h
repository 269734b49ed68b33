// Level 3 of HetRL's search (section 3.2): the devices of each task group, given their number. The genotype of
// its evolution is the number of units of every class, by group.
#pragma once

#include <random>
#include <vector>

#include "planner/space/units.h"

namespace sextant::inline planner {

using UnitAssignment = std::vector<UnitShare>;  // by group

// Assigns all units at random to groups of these sizes (in units; they sum to all).
[[nodiscard]] UnitAssignment random_assignment(const std::vector<UnitClass>& classes,
                                               const std::vector<int>& sizes, std::mt19937_64& random);

// Two groups exchange a unit of different classes. Returns false if no such pair was found.
bool exchange_units(UnitAssignment& deal, std::mt19937_64& random);

// HetRL 3.4: a group that trains gets a unit of faster devices from one that does not. flop_per_s: per unit, by
// class. Returns false if no other group has a faster unit.
bool give_faster_unit(UnitAssignment& deal, const std::vector<bool>& trains,
                      const std::vector<double>& flop_per_s, std::mt19937_64& random);

// The affinity of an assignment: the sum over pairs of units within each group, weighted by `nearness` of their
// classes (by class, then class). Larger is better.
[[nodiscard]] double affinity(const UnitAssignment& deal, const std::vector<std::vector<double>>& nearness);

// HetRL 3.4: repeats the exchange that increases the affinity most, until none does. The sizes stay.
[[nodiscard]] UnitAssignment gathered(UnitAssignment deal, const std::vector<std::vector<double>>& nearness);

}  // namespace sextant::inline planner
