// The assignments of one arm from which its evolution continues (HetRL 3.4).
#pragma once

#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/unit_assignment.h"

namespace sextant::inline planner {

// The score of an item without a plan.
inline constexpr Score kNoScore{0, std::numeric_limits<double>::max(), 0, 0};

struct Individual {
  UnitAssignment deal;  // the genotype
  Scored scored;        // score of its phenotype
};

class Population {
 public:
  static constexpr std::size_t kMaximum = 8;

  // HetRL's affinity search is Baldwinian: the improved assignment (phenotype) is scored, but offspring are
  // derived from the original (genotype). A better offspring replaces the worst individual. Returns false,
  // without scoring, if the phenotype was seen before.
  bool look_at(UnitAssignment deal, UnitAssignment phenotype,
               const std::function<Scored(const UnitAssignment&)>& scored);

  [[nodiscard]] const std::vector<Individual>& individuals() const { return individuals_; }
  [[nodiscard]] const Individual* best() const;  // null if there is none
  [[nodiscard]] Score score() const;

 private:
  std::vector<Individual> individuals_;
  std::set<UnitAssignment> seen_;  // phenotypes
};

}  // namespace sextant::inline planner
