#include "planner/sha_ea/device_sets.h"

#include <algorithm>
#include <bit>
#include <map>

namespace sextant::inline planner {
namespace {

// The regions of each set, concatenated; equal for sets with the same units.
std::vector<std::vector<Region>> members_of_sets(const DeviceSets& sharing, int sets) {
  std::vector<std::vector<Region>> members(static_cast<std::size_t>(sets));
  for (const std::vector<Region>& of_class : sharing.regions) {
    for (std::size_t s = 0; s < members.size(); ++s) {
      for (const Region& region : of_class) {
        if (region.units > 0 && (region.sets & bit(static_cast<int>(s))) != 0) members[s].push_back(region);
      }
      members[s].push_back({});  // the class ends
    }
  }
  return members;
}

// Replaces masks; regions that become equal are merged.
void renumber_regions(const std::vector<int>& number, std::vector<Region>& regions) {
  std::map<SetMask, int> units;
  for (const Region& region : regions) {
    SetMask sets = 0;
    for (std::size_t s = 0; s < number.size(); ++s) {
      if ((region.sets & bit(static_cast<int>(s))) != 0 && number[s] >= 0) sets |= bit(number[s]);
    }
    if (region.units > 0) units[sets] += region.units;
  }
  regions.clear();
  for (const auto& [sets, count] : units) regions.push_back({sets, count});
}

// Membership of a set, by unit of all classes, class after class.
using Members = std::vector<bool>;

Members members_of(const std::vector<UnitClass>& classes, const std::vector<std::uint16_t>& devices) {
  Members members;
  for (const UnitClass& of_class : classes) {
    for (const std::vector<std::uint16_t>& unit : of_class.units) {
      members.push_back(std::any_of(unit.begin(), unit.end(), [&](std::uint16_t device) {
        return std::binary_search(devices.begin(), devices.end(), device);
      }));
    }
  }
  return members;
}

// The different sets, in the order of their first tasks.
std::vector<Members> distinct_sets(const std::vector<UnitClass>& classes,
                                   const std::vector<std::vector<std::uint16_t>>& devices) {
  std::vector<Members> sets;
  for (const std::vector<std::uint16_t>& of_task : devices) {
    Members members = members_of(classes, of_task);
    const bool is_known = std::find(sets.begin(), sets.end(), members) != sets.end();
    if (!is_known && sets.size() < std::size_t{kMaxSets}) sets.push_back(std::move(members));
  }
  return sets;
}

int max_alike(const std::vector<Members>& sets, const Members& members) {
  const auto same = std::find(sets.begin(), sets.end(), members);
  if (same != sets.end()) return static_cast<int>(same - sets.begin());
  const auto common = [&members](const Members& set) {
    int units = 0;
    for (std::size_t u = 0; u < set.size(); ++u) units += set[u] && members[u] ? 1 : 0;
    return units;
  };
  const auto best = std::max_element(sets.begin(), sets.end(),
                                     [&](const Members& a, const Members& b) { return common(a) < common(b); });
  return static_cast<int>(best - sets.begin());
}

}  // namespace

int DeviceSets::sets() const { return 1 + *std::max_element(set_of.begin(), set_of.end()); }

DeviceSets device_sets_of(const TaskGrouping& grouping, const UnitAssignment& deal) {
  DeviceSets sharing{grouping.group_of, {}};
  sharing.regions.resize(deal.front().size());
  for (std::size_t c = 0; c < sharing.regions.size(); ++c) {
    for (std::size_t g = 0; g < deal.size(); ++g) {
      const int group = static_cast<int>(g);
      if (deal[g][c] > 0)
        sharing.regions[c].push_back({group < grouping.groups ? bit(group) : SetMask{0}, deal[g][c]});
    }
  }
  return sharing;
}

DeviceSets device_sets_of(const std::vector<UnitClass>& classes,
                          const std::vector<std::vector<std::uint16_t>>& devices) {
  const std::vector<Members> sets = distinct_sets(classes, devices);
  DeviceSets sharing;
  for (const std::vector<std::uint16_t>& of_task : devices)
    sharing.set_of.push_back(max_alike(sets, members_of(classes, of_task)));
  std::size_t unit = 0;
  for (const UnitClass& of_class : classes) {
    std::map<SetMask, int> units;
    for (int u = 0; u < of_class.count(); ++u, ++unit) {
      SetMask mask = 0;
      for (std::size_t s = 0; s < sets.size(); ++s) {
        if (sets[s][unit]) mask |= bit(static_cast<int>(s));
      }
      ++units[mask];
    }
    sharing.regions.emplace_back();
    for (const auto& [mask, count] : units) sharing.regions.back().push_back({mask, count});
  }
  return normalized(sharing);
}

void give_all_units(DeviceSets& sharing, SetMask sets) {
  for (std::vector<Region>& of_class : sharing.regions) {
    for (Region& region : of_class) region.sets |= sets;
  }
}

DeviceSets normalized(const DeviceSets& sharing) {
  const int sets = sharing.sets();
  const std::vector<std::vector<Region>> members = members_of_sets(sharing, sets);
  DeviceSets out{{}, sharing.regions};
  std::vector<int> number(static_cast<std::size_t>(sets), -1);
  std::vector<std::size_t> first;  // by new number
  for (const int set : sharing.set_of) {
    const auto s = static_cast<std::size_t>(set);
    if (number[s] < 0) {
      const auto same = std::find_if(first.begin(), first.end(),
                                     [&](std::size_t other) { return members[other] == members[s]; });
      number[s] = static_cast<int>(same - first.begin());
      if (same == first.end()) first.push_back(s);
    }
    out.set_of.push_back(number[s]);
  }
  // The first of several identical sets keeps its bit.
  for (std::size_t s = 0; s < number.size(); ++s) {
    if (number[s] >= 0 && first[static_cast<std::size_t>(number[s])] != s) number[s] = -1;
  }
  for (std::vector<Region>& regions : out.regions) renumber_regions(number, regions);
  return out;
}

bool is_disjoint(const DeviceSets& sharing) {
  return std::all_of(sharing.regions.begin(), sharing.regions.end(), [](const std::vector<Region>& of_class) {
    return std::all_of(of_class.begin(), of_class.end(),
                       [](const Region& region) { return std::popcount(region.sets) < 2; });
  });
}

bool has_no_empty_set(const DeviceSets& sharing) {
  SetMask seen = 0;
  for (const std::vector<Region>& of_class : sharing.regions) {
    for (const Region& region : of_class) seen |= region.units > 0 ? region.sets : 0;
  }
  return std::all_of(sharing.set_of.begin(), sharing.set_of.end(),
                     [&](int set) { return (seen & bit(set)) != 0; });
}

void move_units(DeviceSets& sharing, std::size_t unit_class, SetMask from, SetMask to, int units) {
  std::vector<Region>& regions = sharing.regions[unit_class];
  const auto at = [&](SetMask sets) {
    return std::find_if(regions.begin(), regions.end(),
                        [&](const Region& region) { return region.sets == sets; });
  };
  at(from)->units -= units;
  if (const auto there = at(to); there != regions.end()) {
    there->units += units;
  } else {
    regions.push_back({to, units});
  }
}

DeviceSets in_finer_units(DeviceSets sharing, const std::vector<UnitClass>& coarser,
                          const std::vector<UnitClass>& finer) {
  for (std::size_t c = 0; c < sharing.regions.size(); ++c) {
    for (Region& region : sharing.regions[c]) region.units *= finer[c].count() / coarser[c].count();
  }
  return sharing;
}

std::vector<std::vector<std::uint16_t>> devices_of_sets(const std::vector<UnitClass>& classes,
                                                        const DeviceSets& sharing) {
  std::vector<std::vector<std::uint16_t>> devices(static_cast<std::size_t>(sharing.sets()));
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<Region> regions = sharing.regions[c];
    std::stable_sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
      if ((a.sets == 0) != (b.sets == 0)) return b.sets == 0;
      return a.units > b.units;
    });
    std::size_t next = 0;
    for (const Region& region : regions) {
      for (int unit = 0; unit < region.units; ++unit) {
        const std::vector<std::uint16_t>& block = classes[c].units[next++];
        for (std::size_t s = 0; s < devices.size(); ++s) {
          if ((region.sets & bit(static_cast<int>(s))) != 0)
            devices[s].insert(devices[s].end(), block.begin(), block.end());
        }
      }
    }
  }
  return devices;
}

}  // namespace sextant::inline planner
