#include "probes/collective/growing_groups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace sextant {
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

const RankGroup* group_of(const GroupLevel& level, int rank) {
  for (const RankGroup& group : level.groups) {
    if (std::binary_search(group.ranks.begin(), group.ranks.end(), rank)) return &group;
  }
  return nullptr;
}

std::vector<ProbeResult> measure_group(Communicator& group, const std::string& level,
                                       const MakeGroupCollectives& make, const CollectiveOptions& options,
                                       const Clock& clock) {
  const CollectivesOrReason made = make(group);
  if (!made.collectives) {
    if (group.rank() != 0) return {};
    return {waived_result("collectives/" + level, "s", made.reason)};
  }
  std::vector<ProbeResult> results = measure_collectives(group, *made.collectives, options, clock);
  std::vector<ProbeResult> rates = derive_bandwidths(results, group.size());
  std::move(rates.begin(), rates.end(), std::back_inserter(results));
  const std::string library = made.collectives->name() + "/";
  for (ProbeResult& result : results) {
    if (level != kAllRanks && result.name.starts_with(library)) result.name.insert(library.size(), level + "/");
  }
  return results;
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

std::vector<ProbeResult> measure_growing_groups(
    Communicator& world, const std::vector<GroupLevel>& levels, const MakeGroupCollectives& make,
    const CollectiveOptions& options, const Clock& clock,
    const std::function<bool(const GroupLevel& level, const std::vector<ProbeResult>& mine)>& on_level) {
  std::vector<ProbeResult> all;
  for (const GroupLevel& level : levels) {
    const RankGroup* mine = group_of(level, world.rank());
    const auto group = world.split(mine == nullptr ? -1 : mine->ranks.front(), world.rank());
    std::vector<ProbeResult> results;
    if (group) results = measure_group(*group, level.name, make, options, clock);
    for (ProbeResult& result : results) {
      result.rank = world.rank();
      result.group = mine->name;
      result.ranks = static_cast<int>(mine->ranks.size());
    }
    world.wait_quietly();
    const bool goes_on = !on_level || on_level(level, results);
    std::move(results.begin(), results.end(), std::back_inserter(all));
    if (!goes_on) break;
  }
  return all;
}

}  // namespace sextant
