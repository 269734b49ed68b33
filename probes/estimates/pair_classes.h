// Nested classes of pairs of hosts: between two zones (or within one), between two regions (or between zones of
// one), the level. A Cluster can have an exception for each of them.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "probes/schedule/host_groups.h"

namespace sextant::inline probes {

// The subject of a class: level alone, or the numbers of two regions or zones, low <= high.
struct PairClass {
  LinkScope scope = LinkScope::region;
  LinkLevel level = LinkLevel::within_zone;
  int low = 0;
  int high = 0;
  int parent = -1;  // -1: a level

  friend bool operator==(const PairClass&, const PairClass&) = default;
};

class PairClasses {
 public:
  // The three levels, as 0, 1 and 2, and the classes of these pairs.
  PairClasses(const HostGroups& groups, std::span<const RankPair> pairs);

  [[nodiscard]] int count() const { return static_cast<int>(classes_.size()); }
  [[nodiscard]] const PairClass& operator[](int number) const {
    return classes_[static_cast<std::size_t>(number)];
  }
  // Returns the innermost known class of a pair.
  [[nodiscard]] int find(const HostGroups& groups, const RankPair& pair) const;

 private:
  using Between = std::map<std::pair<int, int>, int>;
  void add(const HostGroups& groups, const RankPair& pair);

  std::vector<PairClass> classes_;
  Between of_regions_;
  Between of_zones_;
};

inline constexpr int kFleetLevels = 3;  // within a zone, within a region, between regions

[[nodiscard]] inline int level_class(LinkLevel level) {
  return static_cast<int>(level) - static_cast<int>(LinkLevel::within_zone);
}

}  // namespace sextant::inline probes
