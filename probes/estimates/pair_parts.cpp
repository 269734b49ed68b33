#include "probes/estimates/pair_parts.h"

#include <algorithm>

namespace sextant::inline probes {
namespace {

// A host may cost less than the usual one, but no pair less than this share of what lies between its hosts.
constexpr double kMinOfClass = 0.01;

}  // namespace

PairParts PartTable::parts_of(const RankPair& pair) const {
  PairParts parts{classes_.find(groups_, pair),
                  {kNoPart, kNoPart, first_host() + pair.low, first_host() + pair.high}};
  if (groups_.level_of(pair) != LinkLevel::within_zone) {
    parts.ends[0] = first_uplink() + groups_.zone_of[static_cast<std::size_t>(pair.low)];
    parts.ends[1] = first_uplink() + groups_.zone_of[static_cast<std::size_t>(pair.high)];
  }
  return parts;
}

double SegmentCosts::of_class(const PairClasses& classes, int number) const {
  double cost = of_part[static_cast<std::size_t>(number)];
  while (cost == 0 && classes[number].parent >= 0) {
    number = classes[number].parent;
    cost = of_part[static_cast<std::size_t>(number)];
  }
  return cost;
}

double SegmentCosts::of_pair(const PairClasses& classes, const PairParts& parts, int without) const {
  const double of_links = of_class(classes, parts.pair_class);
  double cost = of_links;
  for (const int part : parts.ends) {
    if (part != kNoPart && part != without)
      cost = joined_costs(rule, cost, of_part[static_cast<std::size_t>(part)]);
  }
  return std::max(cost, kMinOfClass * of_links);
}

}  // namespace sextant::inline probes
