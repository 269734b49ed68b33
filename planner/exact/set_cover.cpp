#include "planner/exact/set_cover.h"

#include <algorithm>
#include <numeric>

namespace sextant::inline planner {

SetCover::SetCover(const std::vector<double>& alone) : solver_(make_milp_solver()), elements_(alone.size()) {
  for (std::size_t e = 0; e < alone.size(); ++e) add({{static_cast<int>(e)}, alone[e]});
}

bool SetCover::add(CostedSet set) {
  std::sort(set.elements.begin(), set.elements.end());
  const auto [entry, is_new] = known_.try_emplace(set.elements, set.cost);
  if (!is_new && entry->second <= set.cost) return false;
  entry->second = set.cost;
  sets_.push_back(std::move(set));
  return true;
}

SetCover::Relaxed SetCover::solve(const std::vector<bool>& is_covered) const {
  Relaxed relaxed;
  MilpProblem problem;
  std::vector<std::vector<MilpTerm>> rows(elements_);
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    int variable = -1;
    for (const int element : sets_[s].elements) {
      const auto e = static_cast<std::size_t>(element);
      if (is_covered[e]) continue;
      if (variable < 0) {
        variable = problem.add_variable(0, kMilpInfinity, sets_[s].cost);
        relaxed.sets.push_back(s);
      }
      rows[e].push_back({variable, 1});
    }
  }
  for (std::size_t e = 0; e < elements_; ++e) {
    if (!is_covered[e]) problem.add_row(1, rows[e], kMilpInfinity);
  }
  MilpSolution solution = solver_->solve(problem, {});
  relaxed.used = std::move(solution.values);
  relaxed.reduced_costs = std::move(solution.reduced_costs);
  relaxed.cost = solution.objective;
  return relaxed;
}

void SetCover::forget(const Relaxed& relaxed) {
  constexpr std::size_t kSetsPerElement = 4;  // beside those of each element alone
  const std::size_t kept = kSetsPerElement * elements_;
  if (sets_.size() <= 2 * kept + elements_) return;
  // No element is covered here, so that positions in both are the same.
  std::vector<std::size_t> order(sets_.size() - elements_);
  std::iota(order.begin(), order.end(), elements_);
  const auto distance = [&](std::size_t s) { return relaxed.reduced_costs[s] / sets_[s].cost; };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<CostedSet> sets(sets_.begin(), sets_.begin() + static_cast<std::ptrdiff_t>(elements_));
  for (std::size_t i = 0; i < kept; ++i) sets.push_back(std::move(sets_[order[i]]));
  sets_ = std::move(sets);
  known_.clear();
  for (const CostedSet& set : sets_) known_[set.elements] = set.cost;
}

SetCover::Prices SetCover::prices() {
  const Relaxed relaxed = solve(std::vector<bool>(elements_, false));
  if (relaxed.reduced_costs.size() < sets_.size()) return {};
  // The price of an element is what its own set costs less the reduced cost of that set.
  Prices prices{{}, relaxed.cost};
  for (std::size_t e = 0; e < elements_; ++e)
    prices.prices.push_back(std::max(sets_[e].cost - relaxed.reduced_costs[e], 0.0));
  forget(relaxed);
  return prices;
}

std::vector<CostedSet> SetCover::cover() const {
  constexpr double kMostly = 0.75;  // a set that the relaxation uses that much is taken
  constexpr double kPart = 0.1;     // otherwise this part of the sets that it uses, those that it uses most
  std::vector<CostedSet> taken;
  std::vector<bool> is_covered(elements_, false);
  std::size_t left = elements_;
  while (left > 0) {
    const Relaxed relaxed = solve(is_covered);
    if (relaxed.used.empty()) break;
    std::vector<std::size_t> order(relaxed.sets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return relaxed.used[a] > relaxed.used[b]; });
    const auto used = static_cast<double>(
        std::count_if(relaxed.used.begin(), relaxed.used.end(), [](double part) { return part > 0; }));
    double may_take = std::max(1.0, kPart * used);
    const std::vector<bool> was_covered = is_covered;
    for (const std::size_t at : order) {
      if (relaxed.used[at] < kMostly && --may_take < 0) break;
      const CostedSet& set = sets_[relaxed.sets[at]];
      // Only sets none of whose elements another one has just covered: the relaxation says nothing about the others.
      const bool is_free = std::all_of(set.elements.begin(), set.elements.end(), [&](int element) {
        const auto e = static_cast<std::size_t>(element);
        return is_covered[e] == was_covered[e];
      });
      if (!is_free) continue;
      for (const int element : set.elements) {
        const auto e = static_cast<std::size_t>(element);
        left -= is_covered[e] ? 0 : 1;
        is_covered[e] = true;
      }
      taken.push_back(set);
    }
  }
  for (std::size_t e = 0; e < elements_; ++e) {
    if (!is_covered[e]) taken.push_back(sets_[e]);
  }
  return taken;
}

}  // namespace sextant::inline planner
