// The segments of the path between two hosts: the network between their places, the uplinks of their zones if
// it leaves them, and one of each host.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "probes/estimates/pair_classes.h"

namespace sextant::inline probes {

// Numbers of segments; kNoPart if there is none.
struct PairParts {
  int pair_class = 0;
  std::array<int, 4> ends{};  // uplink, uplink, host, host
};
inline constexpr int kNoPart = -1;

// Segments are numbered: link classes first, then an uplink for each zone, then the hosts.
class PartTable {
 public:
  PartTable(const HostGroups& groups, std::span<const RankPair> pairs)
      : groups_(groups), classes_(groups, pairs) {}

  [[nodiscard]] const HostGroups& groups() const { return groups_; }
  [[nodiscard]] const PairClasses& classes() const { return classes_; }
  [[nodiscard]] int count() const { return first_host() + groups_.host_count(); }
  [[nodiscard]] int first_uplink() const { return classes_.count(); }
  [[nodiscard]] int first_host() const { return first_uplink() + groups_.zone_count(); }
  [[nodiscard]] PairParts parts_of(const RankPair& pair) const;

 private:
  HostGroups groups_;
  PairClasses classes_;
};

// The rule that combines the costs of the segments to that of the pair.
enum class SegmentRule { slowest, sum };
[[nodiscard]] inline double joined_costs(SegmentRule rule, double a, double b) {
  return rule == SegmentRule::slowest ? std::max(a, b) : a + b;
}

// The cost of each segment, and the resulting cost of a pair. Costs are seconds, or seconds per byte. 0: a
// class has the cost of the one around it, another segment none. A level without a cost makes the pair's 0.
struct SegmentCosts {
  SegmentRule rule = SegmentRule::slowest;
  std::vector<double> of_part;

  [[nodiscard]] double of_class(const PairClasses& classes, int number) const;
  // `without`: a segment whose cost is ignored.
  [[nodiscard]] double of_pair(const PairClasses& classes, const PairParts& parts, int without = kNoPart) const;
};

}  // namespace sextant::inline probes
