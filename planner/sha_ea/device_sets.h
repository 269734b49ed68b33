// Levels 1 to 3 of HetRL's search (section 3.2) without its demand that groups be disjoint: every task has a
// set of units, tasks may have the same set, sets may overlap or be nested, and units may stay idle.
//
// Units of a class that belong to the same sets are alike, so that their number is all there is to say.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/request/groupings.h"
#include "planner/sha_ea/unit_assignment.h"
#include "planner/space/units.h"

namespace sextant {

using SetMask = std::uint64_t;  // a bit a set
[[nodiscard]] constexpr SetMask bit(int set) { return SetMask{1} << set; }
inline constexpr int kMaxSets = 63;  // of a sharing, so that a step can add one

// Units of one class that belong to exactly the sets of a mask; to none: idle.
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

// Groups as sets; what a deal has beyond them stays idle.
[[nodiscard]] DeviceSets device_sets_of(const TaskGrouping& grouping, const UnitAssignment& deal);

// Of the devices that each task has, ascending: a unit belongs to a set where one of its devices does. Of more
// than kMaxSets different sets the last ones are replaced by those that have most units with them in common.
[[nodiscard]] DeviceSets device_sets_of(const std::vector<UnitClass>& classes,
                                        const std::vector<std::vector<std::uint16_t>>& devices);

// Sets numbered as their first tasks are, those without tasks left out, those with the same units one.
// Regions in order.
[[nodiscard]] DeviceSets normalized(const DeviceSets& sharing);

// These sets have all units, idle ones too.
void give_all_units(DeviceSets& sharing, SetMask sets);

// No unit belongs to two sets.
[[nodiscard]] bool is_disjoint(const DeviceSets& sharing);

// Every set has a unit.
[[nodiscard]] bool has_no_empty_set(const DeviceSets& sharing);

// `units` of a class' region go to other sets. They must be there.
void move_units(DeviceSets& sharing, std::size_t unit_class, SetMask from, SetMask to, int units);

// The same devices in smaller units, of which `finer` has a multiple in every class.
[[nodiscard]] DeviceSets in_finer_units(DeviceSets sharing, const std::vector<UnitClass>& coarser,
                                        const std::vector<UnitClass>& finer);

// The devices of each set, ascending within a class. Large regions are laid first, so that whole machines
// stay whole; idle units are the last.
[[nodiscard]] std::vector<std::vector<std::uint16_t>> devices_of_sets(const std::vector<UnitClass>& classes,
                                                                      const DeviceSets& sharing);

}  // namespace sextant
