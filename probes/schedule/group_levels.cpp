#include "probes/schedule/group_levels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sextant::inline probes {
namespace {

// The ranks of each name, in the order of their first rank; groups that an inner level has already are left
// out.
GroupLevel level_of(const std::string& level, const std::vector<std::string>& name_of_rank,
                    std::set<std::vector<int>>& seen) {
  std::map<std::string, std::vector<int>> ranks_of;
  std::vector<std::string> order;
  for (std::size_t rank = 0; rank < name_of_rank.size(); ++rank) {
    std::vector<int>& ranks = ranks_of[name_of_rank[rank]];
    if (ranks.empty()) order.push_back(name_of_rank[rank]);
    ranks.push_back(static_cast<int>(rank));
  }
  GroupLevel found{level, {}};
  for (const std::string& name : order) {
    std::vector<int>& ranks = ranks_of[name];
    if (ranks.size() < 2 || !seen.insert(ranks).second) continue;
    found.groups.push_back({level == kAllRanks ? kAllRanks : level + " " + name, std::move(ranks)});
  }
  return found;
}

std::vector<std::string> names(std::span<const HostPlace> places, std::string HostPlace::*member) {
  std::vector<std::string> all;
  for (const HostPlace& place : places) all.push_back(place.*member);
  return all;
}

}  // namespace

std::vector<GroupLevel> growing_groups(std::span<const HostPlace> places) {
  std::vector<int> everybody(places.size());
  for (std::size_t rank = 0; rank < places.size(); ++rank) everybody[rank] = static_cast<int>(rank);
  std::set<std::vector<int>> seen = {everybody};  // that one is "all"
  std::vector<GroupLevel> levels = {level_of("node", names(places, &HostPlace::name), seen),
                                    level_of("zone", names(places, &HostPlace::zone), seen),
                                    level_of("region", names(places, &HostPlace::region), seen)};
  if (places.size() > 1) levels.push_back({kAllRanks, {{kAllRanks, everybody}}});
  std::erase_if(levels, [](const GroupLevel& level) { return level.groups.empty(); });
  return levels;
}

}  // namespace sextant::inline probes
