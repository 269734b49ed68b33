#include "planner/coschedule/bound/cost_bound.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>

#include "planner/coschedule/bound/pricing.h"

namespace sextant::coschedule {
namespace {

double sum_of(const std::vector<double>& prices) { return std::accumulate(prices.begin(), prices.end(), 0.0); }

std::vector<double> costs_alone(const std::vector<Job>& jobs, const Pools& pools) {
  std::vector<double> costs;
  for (const Job& job : jobs) costs.push_back(pools.usd_per_hour(job));
  return costs;
}

std::vector<double> prices_of_work(const std::vector<Job>& jobs, const Pools& pools) {
  std::vector<double> prices;
  for (const Job& job : jobs) {
    const double rollout_s = job.rollout_s * job.rollout_nodes,
                 training_s = job.training_s * job.training_nodes;
    prices.push_back(
        (pools.rollout.usd_per_node_hour() * rollout_s + pools.training.usd_per_node_hour() * training_s) /
        (job.max_iteration_s() * (1 + kRounding)));
  }
  return prices;
}

// Shares of the groups' costs, in proportion to what the jobs would cost alone.
std::vector<double> first_prices(const std::vector<double>& alone, const std::vector<CostedSet>& groups) {
  std::vector<double> prices = alone;
  for (const CostedSet& group : groups) {
    double all = 0;
    for (const int job : group.elements) all += alone[static_cast<std::size_t>(job)];
    for (const int job : group.elements) {
      const auto j = static_cast<std::size_t>(job);
      prices[j] = std::min(prices[j], group.cost * alone[j] / all);
    }
  }
  return prices;
}

std::vector<CostedSet> sets_of(const std::vector<Job>& jobs, const Pools& pools,
                               const std::vector<Group>& groups) {
  std::map<std::string, int> number;
  for (std::size_t j = 0; j < jobs.size(); ++j) number.emplace(jobs[j].name, static_cast<int>(j));
  std::vector<CostedSet> sets;
  for (const Group& group : groups) {
    CostedSet set{{}, group.usd_per_hour(pools)};
    for (const Member& member : group.members) set.elements.push_back(number.at(member.job.name));
    sets.push_back(std::move(set));
  }
  return sets;
}

// Column generation with smoothed prices (Wentges 1997): groups are sought at prices between those of the best bound
// and those of the relaxation, which jump from round to round.
class ColumnGeneration {
 public:
  ColumnGeneration(const std::vector<Job>& jobs, const Pools& pools, const std::vector<Group>& start,
                   const BoundBudget& budget, bool training_may_grow)
      : budget_(budget),
        alone_(costs_alone(jobs, pools)),
        pricing_(jobs, pools, training_may_grow, budget_),
        groups_(alone_),
        best_prices_(prices_of_work(jobs, pools)) {
    const std::vector<CostedSet> known = sets_of(jobs, pools, start);
    prices_ = first_prices(alone_, known);
    for (const CostedSet& set : known) groups_.add(set);
    bound_.usd_per_hour = sum_of(best_prices_);
  }

  [[nodiscard]] RelaxedPlacements run() && {
    // Without a solver, only the first prices.
    if (!groups_.has_solver()) (void)prove(prices_, kFine);
    while (groups_.has_solver() && !bound_.is_tight && !budget_.is_over() && next_round()) {
    }
    bound_.is_out_of_time = budget_.is_out_of_time() && !bound_.is_tight;
    bound_.groups = groups_.size();
    return {bound_, std::move(groups_)};
  }

 private:
  static constexpr double kCoarse = 0.002, kFine = 1e-9;  // relative, of rho

  // Returns false if the linear program has no answer.
  bool next_round() {
    constexpr int kSteps = 300;
    ++bound_.rounds;
    // The solver's time, fitted to programs of 14 to 2,000 rows: 1.3 ms, and 40 ns for each row and column.
    constexpr std::int64_t kPerProgram = 2'000'000, kPerRowAndColumn = 60;
    budget_.spend(kPerProgram + kPerRowAndColumn * static_cast<std::int64_t>(alone_.size()) * groups_.size());
    SetCover::Prices relaxed = groups_.prices();
    if (relaxed.prices.empty()) return false;
    prices_ = std::move(relaxed.prices);
    const std::vector<double> smoothed = between(best_prices_, prices_);
    bool has_new = add(pricing_.valuable(smoothed, kSteps));
    const bool is_near = relaxed.cost <= bound_.usd_per_hour * (1 + kNear);
    if (has_new && bound_.rounds % kRoundsBetweenProofs != 0) return true;
    (void)prove(smoothed, kCoarse);
    if (has_new) return true;
    // The smoothed prices find no more groups, so the relaxation's own prices are next.
    has_new = add(pricing_.valuable(prices_, is_near ? 0 : kSteps));
    if (has_new || budget_.is_over()) return true;
    if (const std::optional<double> rho = prove(prices_, kFine); rho && *rho <= kNearlyOne)
      bound_.is_tight = true;
    else if (rho)
      (void)add(pricing_.valuable(prices_, 0));
    return true;
  }

  bool add(std::vector<CostedSet> sets) {
    bool has_new = false;
    for (CostedSet& set : sets) has_new = groups_.add(std::move(set)) || has_new;
    return has_new;
  }

  // The bound at these prices. Returns rho; empty if the budget is spent before.
  std::optional<double> prove(const std::vector<double>& prices, double tolerance) {
    const std::optional<double> rho = pricing_.max_ratio(prices, tolerance);
    if (!rho) return rho;
    const double usd = sum_of(prices) / *rho;
    if (usd > bound_.usd_per_hour) {
      bound_.usd_per_hour = usd;
      best_prices_ = prices;
      for (double& price : best_prices_) price /= *rho;
    }
    return rho;
  }

  [[nodiscard]] static std::vector<double> between(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> middle(a.size());
    for (std::size_t j = 0; j < a.size(); ++j) middle[j] = (a[j] + b[j]) / 2;
    return middle;
  }

  static constexpr double kNear = 0.01, kNearlyOne = 1 + 2e-7;
  static constexpr int kRoundsBetweenProofs = 4;
  WorkBudget budget_;
  std::vector<double> alone_;
  Pricing pricing_;
  SetCover groups_;
  CostBound bound_;
  std::vector<double> prices_;       // of the relaxation over the known groups
  std::vector<double> best_prices_;  // of the bound; no possible group is worth more than it costs
};

}  // namespace

RelaxedPlacements relax_placements(const std::vector<Job>& jobs, const Pools& pools,
                                   const std::vector<Group>& start, const BoundBudget& budget,
                                   bool training_may_grow) {
  return ColumnGeneration(jobs, pools, start, budget, training_may_grow).run();
}

CostBound min_usd_per_hour(const std::vector<Job>& jobs, const Pools& pools, const std::vector<Group>& start,
                           const BoundBudget& budget, bool training_may_grow) {
  if (jobs.empty()) return {};
  WorkBudget for_whole(budget);
  if (const std::optional<double> usd = min_usd_in_whole_groups(jobs, pools, training_may_grow, for_whole))
    return {*usd, 0, 0, true, false};
  return relax_placements(jobs, pools, start, budget, training_may_grow).bound;
}

}  // namespace sextant::coschedule
