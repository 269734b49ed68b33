// The zones and regions of a list of hosts, numbered in order of appearance.
#pragma once

#include <span>
#include <vector>

#include "probes/schedule/host_place.h"
#include "probes/schedule/tournament.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

struct HostGroups {
  std::vector<int> zone_of;                       // by host
  std::vector<int> region_of;                     // by host
  std::vector<int> region_of_zone;                // by zone
  std::vector<std::vector<int>> hosts_of_zone;    // by zone
  std::vector<std::vector<int>> zones_of_region;  // by region

  [[nodiscard]] int host_count() const { return static_cast<int>(zone_of.size()); }
  [[nodiscard]] int zone_count() const { return static_cast<int>(hosts_of_zone.size()); }
  [[nodiscard]] int region_count() const { return static_cast<int>(zones_of_region.size()); }
  // Returns the level at which two different hosts meet: never within_node.
  [[nodiscard]] LinkLevel level_of(const RankPair& pair) const;
  [[nodiscard]] std::vector<int> hosts_of_region(int region) const;
};

[[nodiscard]] HostGroups group_hosts(std::span<const HostPlace> places);

// Returns the pair with its numbers in ascending order. a != b.
[[nodiscard]] RankPair pair_of(int a, int b);

}  // namespace sextant::inline probes
