// Blocks of devices that are assigned to task groups as a whole: machines, or equal parts of them in small
// clusters. Moves of single devices refine the result.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/space/machines.h"
#include "sextant/cluster.h"

namespace sextant::inline planner {

struct UnitClass {
  int devices = 0;                                // of each unit
  std::vector<std::vector<std::uint16_t>> units;  // devices, ascending; units of one machine follow each other

  [[nodiscard]] int count() const { return static_cast<int>(units.size()); }
};

// marks: by device, or empty. A unit holds devices of one mark, and units are alike only if their machines have
// the same marks.
//
// Returns units by class of machines. Machines are halved until there are at least `wanted` units or all units
// are single devices; a part has at least one device.
[[nodiscard]] std::vector<UnitClass> unit_classes(const Cluster& cluster, int wanted,
                                                  const std::vector<int>& marks = {});

// Units of all classes.
[[nodiscard]] int count_of(const std::vector<UnitClass>& classes);

// Units of several sizes, largest first, down to single devices. All levels have equally many classes, and a
// class has a multiple of its units in the level before. The first level is unit_classes, or in clusters of
// many machines blocks of 2, 4, ... machines of a class, so that there are about `wanted` to four times as many
// units. Machines of a class beyond whole blocks form a class of their own.
[[nodiscard]] std::vector<std::vector<UnitClass>> unit_levels(const Cluster& cluster, int wanted,
                                                              const std::vector<int>& marks = {});

// The number of units of each class in a group.
using UnitShare = std::vector<int>;  // by class

// The devices of each group, in the order of classes, then of devices. In every class the groups take
// consecutive units, the group with the most units first, so that whole machines stay whole.
[[nodiscard]] std::vector<std::vector<std::uint16_t>> devices_of_groups(const std::vector<UnitClass>& classes,
                                                                        const std::vector<UnitShare>& groups);

}  // namespace sextant::inline planner
