// The deals of one arm that its evolution goes on from (HetRL 3.4).
#pragma once

#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/unit_assignment.h"

namespace sextant {

// Of what has no plan.
inline constexpr Score kNoScore{0, std::numeric_limits<double>::max(), 0, 0};

struct Individual {
  UnitAssignment deal;  // the genotype
  Scored scored;        // of its phenotype
};

class Population {
 public:
  static constexpr std::size_t kMaximum = 8;

  // HetRL's affinity search is Baldwinian: what it makes of a deal is scored, and offspring come from the deal
  // as it was. An offspring that is better takes the place of the worst. False where that phenotype was seen
  // before, and then it is not scored.
  bool look_at(UnitAssignment deal, UnitAssignment phenotype,
               const std::function<Scored(const UnitAssignment&)>& scored);

  [[nodiscard]] const std::vector<Individual>& individuals() const { return individuals_; }
  [[nodiscard]] const Individual* best() const;  // null where there is none
  [[nodiscard]] Score score() const;

 private:
  std::vector<Individual> individuals_;
  std::set<UnitAssignment> seen_;  // phenotypes
};

}  // namespace sextant
