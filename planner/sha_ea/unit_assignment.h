// Level 3 of HetRL's search (section 3.2): which devices each task group gets, given how many. The genotype of
// its evolution: units of every class by group.
#pragma once

#include <random>
#include <vector>

#include "planner/space/units.h"

namespace sextant {

using UnitAssignment = std::vector<UnitShare>;  // by group

// All units to groups of given sizes (in units; they sum to all).
[[nodiscard]] UnitAssignment random_assignment(const std::vector<UnitClass>& classes,
                                               const std::vector<int>& sizes, std::mt19937_64& random);

// Two groups exchange a unit of different classes. False where all groups have the same.
bool exchange_units(UnitAssignment& deal, std::mt19937_64& random);

// HetRL 3.4: a group that trains gets a unit of faster devices from one that does not. flop_per_s: by class, of
// a unit. False where none is faster.
bool give_faster_unit(UnitAssignment& deal, const std::vector<bool>& trains,
                      const std::vector<double>& flop_per_s, std::mt19937_64& random);

// How near the units of each group are to each other: pairs of one class, weighed by `nearness` of their
// classes (by class, then class). The better the larger.
[[nodiscard]] double affinity(const UnitAssignment& deal, const std::vector<std::vector<double>>& nearness);

// HetRL 3.4: exchanges that raise the affinity most, until none does. The sizes stay.
[[nodiscard]] UnitAssignment gathered(UnitAssignment deal, const std::vector<std::vector<double>>& nearness);

}  // namespace sextant
