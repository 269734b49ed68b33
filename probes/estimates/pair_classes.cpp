#include "probes/estimates/pair_classes.h"

#include <algorithm>

namespace sextant::inline probes {
namespace {

std::pair<int, int> between(const std::vector<int>& of, const RankPair& pair) {
  return std::minmax({of[static_cast<std::size_t>(pair.low)], of[static_cast<std::size_t>(pair.high)]});
}

}  // namespace

PairClasses::PairClasses(const HostGroups& groups, std::span<const RankPair> pairs) {
  for (const LinkLevel level : {LinkLevel::within_zone, LinkLevel::within_region, LinkLevel::between_regions}) {
    classes_.push_back({LinkScope::region, level, 0, 0, -1});
  }
  for (const RankPair& pair : pairs) add(groups, pair);
}

void PairClasses::add(const HostGroups& groups, const RankPair& pair) {
  const LinkLevel level = groups.level_of(pair);
  int parent = level_class(level);
  // A region's own exception is about its zones: what lies within one keeps its rate.
  if (level != LinkLevel::within_zone) {
    const auto regions = between(groups.region_of, pair);
    const auto [found, is_new] = of_regions_.emplace(regions, count());
    if (is_new) classes_.push_back({LinkScope::region, level, regions.first, regions.second, parent});
    parent = found->second;
  }
  const auto zones = between(groups.zone_of, pair);
  if (of_zones_.emplace(zones, count()).second) {
    classes_.push_back({LinkScope::zone, level, zones.first, zones.second, parent});
  }
}

int PairClasses::find(const HostGroups& groups, const RankPair& pair) const {
  const LinkLevel level = groups.level_of(pair);
  const auto zones = of_zones_.find(between(groups.zone_of, pair));
  if (zones != of_zones_.end()) return zones->second;
  if (level == LinkLevel::within_zone) return level_class(level);
  const auto regions = of_regions_.find(between(groups.region_of, pair));
  return regions == of_regions_.end() ? level_class(level) : regions->second;
}

}  // namespace sextant::inline probes
