// From the best deals of a halving on: levels 1 to 3 in climbs (local_steps.h), levels 3 to 5 in Markov chains over
// all sets that were looked at (recombination.h), levels 4 and 5 in polishing (polish.h).
//
// Chains and climbs reach what the other does not. A climb changes one set at a time and gives every task the
// fastest option that fits; a chain, of which a step costs a look-up, lets one task be slower for another's
// sake, but has only the sets that climbs and halving have asked about. So every climb starts from the sets
// that a chain has chosen, and chains start from what climbs end in, as long as that helps.
#pragma once

#include <limits>
#include <map>
#include <random>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/arrangement.h"
#include "planner/sha_ea/device_sets.h"
#include "planner/sha_ea/local_steps.h"

namespace sextant {

class LocalSearch {
 public:
  // Of this many starts, more or less, the effort of a round is meant for.
  static constexpr std::size_t kStarts = 8;

  // levels: of the size of units, as unit_levels has them. All references must outlive it.
  LocalSearch(SearchRun& run, Arranger& arranger, const std::vector<std::vector<UnitClass>>& levels,
              std::mt19937_64& random);

  // One round's. best: the best plan of its halving, from which the first chain starts. starts: of whole units,
  // in the order in which they are gone on from. budget: looks at deals that the halving of all islands has
  // had, of which polishing and the chains from starts have multiples; own: this island's part of it, of which
  // the long chains have. polished: of what was nearly as good as the best, how many.
  void improve(const Scored& best, const std::vector<DeviceSets>& starts, std::uint64_t budget,
               std::uint64_t own, std::size_t polished);

  // Chains from `best` and parts of climbs from the sets that they chose in turns, or a climb from `start`:
  // what comes before the first round, and takes a small part of it. islands: that search like this one at the
  // same time and tell each other what they look at, so that each takes shorter turns.
  void improve_once(const Scored& best, const DeviceSets& start, std::uint64_t budget, std::size_t islands);

 private:
  struct LocalOptimum {
    DeviceSets sharing;
    std::size_t level = 0;
    Scored scored;
    Score in_whole_units = {};  // what it had come to before it went on in smaller ones
  };
  static constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool is_within_unit_space() const { return run_.request().limits.within_unit_space; }
  // A climb in units of this level, of so many looks at most.
  [[nodiscard]] LocalOptimum climbed(const DeviceSets& sharing, std::size_t level,
                                     std::uint64_t looks = kToTheEnd);
  // The same devices in smaller units, and on.
  [[nodiscard]] LocalOptimum refined_in_smaller_units(LocalOptimum from);
  void start_from(const DeviceSets& sharing, std::uint64_t budget);
  void chain_and_climb(Scored scored, std::uint64_t steps, int times, std::uint64_t polishing);
  void climb_in_turns(Scored scored, std::size_t islands, std::uint64_t polishing);
  // What it came to: a copy of what is in climbed_.
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
  std::vector<LocalOptimum> climbed_;                // of this round
  std::vector<Scored> near_best_;                    // on the way, before polishing
  std::map<std::vector<int>, std::size_t> refined_;  // by which sets overlap
};

}  // namespace sextant
