// Improves the best assignments of a halving: levels 1 to 3 by local search (local_steps.h), levels 3 to 5 by
// Markov chains over all costed device sets (recombination.h), levels 4 and 5 by polishing (polish.h).
//
// Chains and local search reach different plans. Local search changes one set at a time and gives every task
// the fastest option that fits. A chain, whose step costs a look-up, lets one task be slower for the benefit of
// another, but only has the sets that local search and halving have costed. So every local search starts from
// the sets that a chain has chosen, and chains start from the results of local search, as long as that helps.
#pragma once

#include <limits>
#include <map>
#include <random>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/arrangement.h"
#include "planner/sha_ea/device_sets.h"
#include "planner/sha_ea/local_steps.h"

namespace sextant::inline planner {

class LocalSearch {
 public:
  // The effort of a round is budgeted for about this many starting points.
  static constexpr std::size_t kStarts = 8;

  // levels: by unit size, as unit_levels returns them. All references must outlive the object.
  LocalSearch(SearchRun& run, Arranger& arranger, const std::vector<std::vector<UnitClass>>& levels,
              std::mt19937_64& random);

  // The local search of one round. best: the best plan of its halving, at which the first chain starts. starts:
  // starting points in whole units, in their order. budget: number of assignments that the halving of all
  // islands has examined; the effort of polishing and of chains from `starts` is a multiple of it. own: this
  // island's part of it, for the long chains. polished: number of near-best plans to polish.
  void improve(const Scored& best, const std::vector<DeviceSets>& starts, std::uint64_t budget,
               std::uint64_t own, std::size_t polished);

  // Alternates chains from `best` with partial local searches from the sets that they chose, or runs one local
  // search from `start`. It precedes the first round and takes a small part of it. islands: number of searches
  // that run concurrently and exchange costed options, so that each takes shorter turns.
  void improve_once(const Scored& best, const DeviceSets& start, std::uint64_t budget, std::size_t islands);

 private:
  struct LocalOptimum {
    DeviceSets sharing;
    std::size_t level = 0;
    Scored scored;
    Score in_whole_units = {};  // score before it was refined in smaller units
  };
  static constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool is_within_unit_space() const { return run_.request().limits.within_unit_space; }
  // Local search in units of this level, with at most `looks` evaluations.
  [[nodiscard]] LocalOptimum climbed(const DeviceSets& sharing, std::size_t level,
                                     std::uint64_t looks = kToTheEnd);
  // Continues on the same devices in smaller units.
  [[nodiscard]] LocalOptimum refined_in_smaller_units(LocalOptimum from);
  void start_from(const DeviceSets& sharing, std::uint64_t budget);
  void chain_and_climb(Scored scored, std::uint64_t steps, int times, std::uint64_t polishing);
  void climb_in_turns(Scored scored, std::size_t islands, std::uint64_t polishing);
  // Returns the result, a copy of an entry of climbed_.
  Scored climb_and_polish(const DeviceSets& sharing, std::uint64_t polishing);
  [[nodiscard]] DeviceSets sharing_of_plan(const Scored& scored) const;
  void refine_best(std::uint64_t budget);
  void recombine_best(std::uint64_t budget);
  [[nodiscard]] std::uint64_t affordable(std::uint64_t steps) const;
  void polish_one(Scored scored, std::uint64_t budget);
  void remember(const Scored& scored);

  SearchRun& run_;
  Arranger& arranger_;
  const std::vector<std::vector<UnitClass>>& levels_;
  std::mt19937_64& random_;
  std::vector<LocalOptimum> climbed_;                // in this round
  std::vector<Scored> near_best_;                    // found on the way, before polishing
  std::map<std::vector<int>, std::size_t> refined_;  // by the overlap of sets
};

}  // namespace sextant::inline planner
