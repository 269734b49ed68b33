// The frame of HetRL's Algorithm 1 (section 3.4, lines 13 to 32): successive halving of task groupings, and
// within each of them of GPU groupings. What is done in an arm, a pair of both, is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/halving.h"

namespace sextant::inline planner {

// A task grouping with the GPU groupings that are left of it. An arm has `Score score() const`, the best of all
// plans that were found in it.
template <typename Arm>
struct HalvedGrouping {
  std::vector<Arm> arms;  // never empty

  [[nodiscard]] Score score() const {
    Score best = arms.front().score();
    for (const Arm& arm : arms) {
      if (arm.score().is_better_than(best)) best = arm.score();
    }
    return best;
  }
};

// Plans, solver nodes or microseconds: the unit is the caller's.
struct HalvingBudget {
  std::function<double()> left;
  std::function<bool()> is_over;
};

// How many arms a grouping may have so that `budget` gives each of them at least one unit in every round of
// halving; at least one.
[[nodiscard]] inline std::size_t max_arms_within(double budget) {
  std::size_t arms = 1;
  while (static_cast<double>((arms + 1) * rounds_of(arms + 1)) <= budget) ++arms;
  return arms;
}

// spend: searches an arm with so many units. In every round all groupings that are left have the same budget
// (lines 16 and 20); then the worse half of their arms (line 29) and of the groupings (line 31) is dropped. The
// paper divides the whole budget by the number of rounds. Here a round divides what is left by the number of
// rounds that are left, which is the same but for rounding, and keeps later rounds whole where the clock
// was estimated wrongly.
template <typename Arm>
void halve_nested(std::vector<HalvedGrouping<Arm>>& groupings, const HalvingBudget& budget,
                  const std::function<void(Arm&, std::uint64_t)>& spend) {
  const std::uint64_t rounds = rounds_of(groupings.size());
  for (std::uint64_t m = 0; m < rounds && !budget.is_over(); ++m) {
    const double each = budget.left() / static_cast<double>((rounds - m) * groupings.size());
    for (HalvedGrouping<Arm>& grouping : groupings) {
      halve_successively<Arm>(grouping.arms, static_cast<std::uint64_t>(each), spend, budget.is_over);
      sort_by_score(grouping.arms);
      grouping.arms.erase(grouping.arms.begin() + static_cast<std::ptrdiff_t>(half_of(grouping.arms.size())),
                          grouping.arms.end());
    }
    sort_by_score(groupings);
    groupings.erase(groupings.begin() + static_cast<std::ptrdiff_t>(half_of(groupings.size())),
                    groupings.end());
  }
}

}  // namespace sextant::inline planner
