#include "probes/schedule/crossings.h"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>

#include "probes/schedule/host_groups.h"

namespace sextant::inline probes {
namespace {

void shuffle_all(std::vector<std::vector<int>>& groups, std::mt19937_64& random) {
  std::shuffle(groups.begin(), groups.end(), random);
  for (auto& group : groups) std::shuffle(group.begin(), group.end(), random);
}

// Deals the ends of groups to pairs of groups.
class Dealer {
 public:
  Dealer(const std::vector<std::vector<int>>& groups, const CrossingLimits& limits)
      : groups_(groups), used_(groups.size()), limits_(limits) {}

  // It can meet every other group.
  [[nodiscard]] bool is_wide(std::size_t group) const { return ends(group) + 1 >= groups_.size(); }
  // False when one of the two has no end left.
  bool deal(std::size_t a, std::size_t b) {
    std::size_t pairs = static_cast<std::size_t>(limits_.max_of_class);
    // Both take their hosts in turns: no pair comes twice before the larger group is through.
    pairs = std::min(pairs, std::max(groups_[a].size(), groups_[b].size()));
    for (const std::size_t group : {a, b}) {
      pairs = std::min(pairs, std::max<std::size_t>(1, ends(group) / (groups_.size() - 1)));
      pairs = std::min(pairs, ends(group) - used_[group]);
    }
    for (std::size_t i = 0; i < pairs; ++i) dealt_.push_back(pair_of(next_host(a), next_host(b)));
    return pairs > 0;
  }
  [[nodiscard]] std::vector<RankPair> take() { return std::move(dealt_); }

 private:
  [[nodiscard]] std::size_t ends(std::size_t group) const {
    return groups_[group].size() * static_cast<std::size_t>(limits_.max_of_host);
  }
  int next_host(std::size_t group) { return groups_[group][used_[group]++ % groups_[group].size()]; }

  const std::vector<std::vector<int>>& groups_;
  std::vector<std::size_t> used_;  // ends, by group
  CrossingLimits limits_;
  std::vector<RankPair> dealt_;
};

// Pairs of two groups that still have hosts, those with the most hosts first; the last hosts of one group stay.
std::vector<RankPair> match_across(std::vector<std::vector<int>>& unmet) {
  std::vector<RankPair> pairs;
  std::priority_queue<std::pair<std::size_t, std::size_t>> by_size;  // hosts, group
  for (std::size_t group = 0; group < unmet.size(); ++group) {
    if (!unmet[group].empty()) by_size.emplace(unmet[group].size(), group);
  }
  while (by_size.size() > 1) {
    const std::size_t a = by_size.top().second;
    by_size.pop();
    const std::size_t b = by_size.top().second;
    by_size.pop();
    pairs.push_back(pair_of(unmet[a].back(), unmet[b].back()));
    for (const std::size_t group : {a, b}) {
      unmet[group].pop_back();
      if (!unmet[group].empty()) by_size.emplace(unmet[group].size(), group);
    }
  }
  return pairs;
}

}  // namespace

std::vector<RankPair> class_crossings(std::vector<std::vector<int>> groups, const CrossingLimits& limits,
                                      std::mt19937_64& random) {
  if (groups.size() < 2) return {};
  shuffle_all(groups, random);
  Dealer dealer(groups, limits);
  std::vector<std::size_t> wide;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (dealer.is_wide(group)) wide.push_back(group);
  }
  for (std::size_t a = 0; a < wide.size(); ++a) {
    for (std::size_t b = a + 1; b < wide.size(); ++b) dealer.deal(wide[a], wide[b]);
  }
  // The narrow ones meet as many as they can, in rounds so that all get about as many.
  const int count = static_cast<int>(groups.size());
  bool any = wide.size() < groups.size();
  for (int round = 0; any && round < tournament_round_count(count); ++round) {
    any = false;
    for (const RankPair& pair : tournament_round(count, round)) {
      const auto a = static_cast<std::size_t>(pair.low), b = static_cast<std::size_t>(pair.high);
      if (dealer.is_wide(a) && dealer.is_wide(b)) continue;
      any = dealer.deal(a, b) || any;
    }
  }
  return dealer.take();
}

std::vector<RankPair> first_crossings(std::vector<std::vector<int>> groups, std::vector<bool>& is_met,
                                      std::mt19937_64& random) {
  if (groups.size() < 2) return {};
  shuffle_all(groups, random);
  std::vector<std::vector<int>> unmet(groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const int host : groups[group]) {
      if (!is_met[static_cast<std::size_t>(host)]) unmet[group].push_back(host);
    }
  }
  std::vector<RankPair> pairs = match_across(unmet);
  for (std::size_t left = 0; left < groups.size(); ++left) {
    if (unmet[left].empty()) continue;
    std::vector<int> others;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      if (group != left) others.insert(others.end(), groups[group].begin(), groups[group].end());
    }
    std::shuffle(others.begin(), others.end(), random);
    for (std::size_t i = 0; i < unmet[left].size(); ++i) {
      pairs.push_back(pair_of(unmet[left][i], others[i % others.size()]));
    }
  }
  for (const RankPair& pair : pairs) {
    is_met[static_cast<std::size_t>(pair.low)] = is_met[static_cast<std::size_t>(pair.high)] = true;
  }
  return pairs;
}

}  // namespace sextant::inline probes
