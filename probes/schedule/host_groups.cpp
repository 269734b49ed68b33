#include "probes/schedule/host_groups.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sextant/error.h"

namespace sextant::inline probes {

LinkLevel HostGroups::level_of(const RankPair& pair) const {
  const auto low = static_cast<std::size_t>(pair.low), high = static_cast<std::size_t>(pair.high);
  if (zone_of[low] == zone_of[high]) return LinkLevel::within_zone;
  return region_of[low] == region_of[high] ? LinkLevel::within_region : LinkLevel::between_regions;
}

std::vector<int> HostGroups::hosts_of_region(int region) const {
  std::vector<int> hosts;
  for (const int zone : zones_of_region[static_cast<std::size_t>(region)]) {
    const auto& of_zone = hosts_of_zone[static_cast<std::size_t>(zone)];
    hosts.insert(hosts.end(), of_zone.begin(), of_zone.end());
  }
  return hosts;
}

HostGroups group_hosts(std::span<const HostPlace> places) {
  HostGroups groups;
  std::map<std::string, int> region_number;
  std::map<std::pair<int, std::string>, int> zone_number;
  for (const HostPlace& place : places) {
    const auto [region, is_new_region] = region_number.emplace(place.region, groups.region_count());
    if (is_new_region) groups.zones_of_region.emplace_back();
    const int of_region = region->second;
    const auto [zone, is_new_zone] = zone_number.emplace(std::pair(of_region, place.zone), groups.zone_count());
    if (is_new_zone) {
      groups.zones_of_region[static_cast<std::size_t>(of_region)].push_back(zone->second);
      groups.region_of_zone.push_back(of_region);
      groups.hosts_of_zone.emplace_back();
    }
    groups.hosts_of_zone[static_cast<std::size_t>(zone->second)].push_back(groups.host_count());
    groups.zone_of.push_back(zone->second);
    groups.region_of.push_back(of_region);
  }
  return groups;
}

RankPair pair_of(int a, int b) {
  SEXTANT_CHECK(a != b);
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace sextant::inline probes
