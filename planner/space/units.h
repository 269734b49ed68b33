// Blocks of devices that are dealt to task groups whole: machines, or equal parts of them where there are few.
// What is finer is found by moves of single devices.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/space/machines.h"
#include "sextant/cluster.h"

namespace sextant {

struct UnitClass {
  int devices = 0;                                // of each unit
  std::vector<std::vector<std::uint16_t>> units;  // devices, ascending; units of one machine follow each other

  [[nodiscard]] int count() const { return static_cast<int>(units.size()); }
};

// marks: by device, where there are any; units hold devices of one mark, and are alike only where their
// machines are marked alike.
//
// By class of machines. Machines are halved until there are at least `wanted` units or all are single devices;
// a part has at least one device.
[[nodiscard]] std::vector<UnitClass> unit_classes(const Cluster& cluster, int wanted,
                                                  const std::vector<int>& marks = {});

// Units of several sizes, the largest first, down to single devices; in every level as many classes, and a
// class has a multiple of the units that it has in the level before. The first level is unit_classes, or in
// clusters of many machines blocks of 2, 4, ... machines of a class, so that there are about `wanted` to four
// times as many units. What a class has beyond whole blocks is a class of its own.
[[nodiscard]] std::vector<std::vector<UnitClass>> unit_levels(const Cluster& cluster, int wanted,
                                                              const std::vector<int>& marks = {});

// How many units of each class a group has.
using UnitShare = std::vector<int>;  // by class

// The devices of each group: of every class the groups take theirs one after the other, those with the most
// first, so that whole machines stay whole. In the order of classes, then of devices.
[[nodiscard]] std::vector<std::vector<std::uint16_t>> devices_of_groups(const std::vector<UnitClass>& classes,
                                                                        const std::vector<UnitShare>& groups);

}  // namespace sextant
