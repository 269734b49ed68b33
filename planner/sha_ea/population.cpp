#include "planner/sha_ea/population.h"

#include <algorithm>

namespace sextant::inline planner {

bool Population::look_at(UnitAssignment deal, UnitAssignment phenotype,
                         const std::function<Scored(const UnitAssignment&)>& scored) {
  const auto [entry, is_new] = seen_.insert(std::move(phenotype));
  if (!is_new) return false;
  Individual individual{std::move(deal), scored(*entry)};
  if (individuals_.size() < kMaximum) {
    individuals_.push_back(std::move(individual));
    return true;
  }
  const auto worst = std::max_element(
      individuals_.begin(), individuals_.end(),
      [](const Individual& a, const Individual& b) { return a.scored.is_better_than(b.scored); });
  if (individual.scored.is_better_than(worst->scored)) *worst = std::move(individual);
  return true;
}

const Individual* Population::best() const {
  const Individual* first = nullptr;
  for (const Individual& individual : individuals_) {
    if (first == nullptr || individual.scored.is_better_than(first->scored)) first = &individual;
  }
  return first;
}

Score Population::score() const {
  const Individual* first = best();
  return first == nullptr ? kNoScore : first->scored.score;
}

}  // namespace sextant::inline planner
