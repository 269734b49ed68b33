#include "probes/collective/growing_groups.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sextant::inline probes {
namespace {

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

}  // namespace sextant::inline probes
