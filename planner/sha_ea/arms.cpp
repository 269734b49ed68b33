#include "planner/sha_ea/arms.h"

#include <algorithm>
#include <set>

#include "planner/request/counts.h"
#include "planner/sha_ea/device_sets.h"

namespace sextant::inline planner {
namespace {

// Ordered sums of `units` in `groups` positive parts are determined by `groups - 1` cut positions.
std::vector<int> parts_between(const std::vector<int>& cuts, int units) {
  std::vector<int> parts;
  int last = 0;
  for (const int cut : cuts) {
    parts.push_back(cut - last);
    last = cut;
  }
  parts.push_back(units - last);
  return parts;
}

void every_cut(int units, int cuts_left, std::vector<int>& cuts, std::vector<std::vector<int>>& found) {
  if (cuts_left == 0) {
    found.push_back(parts_between(cuts, units));
    return;
  }
  for (int cut = cuts.empty() ? 1 : cuts.back() + 1; cut <= units - cuts_left; ++cut) {
    cuts.push_back(cut);
    every_cut(units, cuts_left - 1, cuts, found);
    cuts.pop_back();
  }
}

// Floyd's algorithm (Bentley 1987): a uniform random set of `count` numbers in 1 .. units - 1.
std::vector<int> drawn_cuts(int units, int count, std::mt19937_64& random) {
  std::set<int> cuts;
  for (int last = units - count; last < units; ++last) {
    const int cut = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(last));
    cuts.insert(cuts.contains(cut) ? last : cut);
  }
  return {cuts.begin(), cuts.end()};
}

}  // namespace

std::vector<Arms> arms_of(int tasks, int units, const ArmLimits& limits, std::mt19937_64& random) {
  const std::size_t maximum = limits.of_grouping;
  std::vector<Arms> arms;
  std::vector<TaskGrouping> groupings =
      tasks <= kMaxListedTasks ? task_groupings(tasks)
                               : sampled_groupings(tasks, std::min(units, kMaxSets), limits.groupings, random);
  for (TaskGrouping& grouping : groupings) {
    if (grouping.groups > units) continue;
    Arms of_grouping{std::move(grouping), {}};
    const int groups = of_grouping.grouping.groups;
    if (group_size_count(units, groups) <= static_cast<double>(maximum)) {
      std::vector<int> cuts;
      every_cut(units, groups - 1, cuts, of_grouping.sizes);
    } else {
      std::set<std::vector<int>> drawn;
      while (drawn.size() < maximum) drawn.insert(parts_between(drawn_cuts(units, groups - 1, random), units));
      of_grouping.sizes.assign(drawn.begin(), drawn.end());
    }
    arms.push_back(std::move(of_grouping));
  }
  return arms;
}

}  // namespace sextant::inline planner
