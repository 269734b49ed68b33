// Levels 1 to 3 of HetRL's search (section 3.2) without its constraint that groups be disjoint: every task has
// a set of units, tasks may have the same set, sets may overlap or be nested, and units may stay idle.
//
// Units of a class that belong to the same sets are interchangeable, so that only their number is stored.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/request/groupings.h"
#include "planner/sha_ea/unit_assignment.h"
#include "planner/space/units.h"

namespace sextant::inline planner {

using SetMask = std::uint64_t;  // one bit per set
[[nodiscard]] constexpr SetMask bit(int set) { return SetMask{1} << set; }
inline constexpr int kMaxSets = 63;  // maximum number of sets, so that a step can add one

// Units of one class that belong to exactly the sets of a mask. An empty mask: the units are idle.
struct Region {
  SetMask sets = 0;
  int units = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

struct DeviceSets {
  std::vector<int> set_of;                   // by task
  std::vector<std::vector<Region>> regions;  // by class, ascending masks, none empty

  [[nodiscard]] int sets() const;
  friend bool operator==(const DeviceSets&, const DeviceSets&) = default;
};

// The groups of an assignment as sets; units of `deal` beyond the groups stay idle.
[[nodiscard]] DeviceSets device_sets_of(const TaskGrouping& grouping, const UnitAssignment& deal);

// The device sets of a plan, given each task's devices in ascending order. A unit belongs to a set if one of
// its devices does. Beyond kMaxSets sets, each further one is replaced by the set with most units in common.
[[nodiscard]] DeviceSets device_sets_of(const std::vector<UnitClass>& classes,
                                        const std::vector<std::vector<std::uint16_t>>& devices);

// Sets numbered by their first tasks, without unused sets, and with sets of the same units merged. Regions are
// sorted.
[[nodiscard]] DeviceSets normalized(const DeviceSets& sharing);

// Adds all units, including idle ones, to these sets.
void give_all_units(DeviceSets& sharing, SetMask sets);

// True if no unit belongs to two sets.
[[nodiscard]] bool is_disjoint(const DeviceSets& sharing);

// True if every set has a unit.
[[nodiscard]] bool has_no_empty_set(const DeviceSets& sharing);

// Moves `units` of a class from one region to another; the first must have that many.
void move_units(DeviceSets& sharing, std::size_t unit_class, SetMask from, SetMask to, int units);

// The same devices in the smaller units of `finer`, where every class has a multiple of the units in `coarser`.
[[nodiscard]] DeviceSets in_finer_units(DeviceSets sharing, const std::vector<UnitClass>& coarser,
                                        const std::vector<UnitClass>& finer);

// The devices of each set, ascending within a class. Large regions are placed first, so that whole machines
// stay whole; idle units come last.
[[nodiscard]] std::vector<std::vector<std::uint16_t>> devices_of_sets(const std::vector<UnitClass>& classes,
                                                                      const DeviceSets& sharing);

}  // namespace sextant::inline planner
