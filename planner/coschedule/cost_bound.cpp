#include "planner/coschedule/cost_bound.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "planner/coschedule/cheapest_group.h"
#include "planner/exact/milp.h"

namespace sextant::coschedule {
namespace {

// Jobs of a possible group, by position, and its cost.
struct Column {
  std::vector<int> jobs;
  double usd = 0;
};

// The groups that are worth most for their cost at given prices, one for each job that allows the shortest
// iteration.
class Pricing {
 public:
  Pricing(const std::vector<Job>& jobs, const Pools& pools, bool training_may_grow)
      : jobs_(jobs), pools_(pools), training_may_grow_(training_may_grow) {
    for (const Job& job : jobs) {
      limit_s_.push_back(job.max_iteration_s() * (1 + kRounding));
      widest_rollout_ = std::max(widest_rollout_, job.rollout_nodes);
      widest_training_ = std::max(widest_training_, job.training_nodes);
    }
  }

  // Returns rho, the maximum of worth over cost.
  double price(const std::vector<double>& prices, std::vector<Column>& found) {
    prices_ = &prices;
    best_.assign(jobs_.size(), {});
    best_ratio_.assign(jobs_.size(), 0.0);
    const double max_price = *std::max_element(prices.begin(), prices.end());
    const double top = pools_.max_members * max_price;  // no group is worth more
    double rho = 0;
    // Sizes from small to large: a large one needs prices that few have.
    for (const Range& training : ranges_to((training_may_grow_ ? pools_.max_members : 1) * widest_training_)) {
      for (const Range& rollout : ranges_to(pools_.max_members * widest_rollout_)) {
        usd_ = pools_.usd_per_hour(rollout.first, training.first);
        if (top <= usd_ * std::max(rho, kWorth)) break;
        rollout_nodes_ = rollout.last;
        training_nodes_ = training.last;
        rho = std::max(rho, price_size(rho));
      }
    }
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (best_ratio_[j] > 1 + kRounding) found.push_back(best_[j]);
    }
    return rho;
  }

 private:
  static constexpr double kWorth = 1 + 1e-7;  // a group below it is of no use

  // Numbers of nodes that are priced together, with the work of the last and the cost of the first, so that the bound
  // holds for all of them.
  struct Range {
    int first = 1, last = 1;
  };

  // Few nodes one by one, more in ranges of a tenth.
  [[nodiscard]] static std::vector<Range> ranges_to(int maximum) {
    constexpr int kFew = 16;
    std::vector<Range> ranges;
    for (int first = 1; first <= maximum;) {
      const int last = std::min(maximum, first <= kFew ? first : first + first / 10);
      ranges.push_back({first, last});
      first = last + 1;
    }
    return ranges;
  }

  double price_size(double rho) {
    order_.clear();
    density_.assign(jobs_.size(), 0.0);
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const Job& job = jobs_[j];
      if (job.rollout_nodes > rollout_nodes_ || job.training_nodes > training_nodes_ || price_of(j) <= 0)
        continue;
      density_[j] = price_of(j) / work_s(job);
      order_.push_back(static_cast<int>(j));
    }
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return density_of(a) > density_of(b); });
    highest_.assign(order_.size() + 1, 0.0);
    for (std::size_t i = order_.size(); i-- > 0;)
      highest_[i] = std::max(highest_[i + 1], price_of(static_cast<std::size_t>(order_[i])));
    double best = rho;
    for (const int anchor : order_) best = std::max(best, price_anchor(anchor));
    return best;
  }

  // Node-seconds of an iteration as shares of both pools' nodes.
  [[nodiscard]] double work_s(const Job& job) const {
    return job.rollout_s * job.rollout_nodes / rollout_nodes_ + job.training_s_on(training_nodes_);
  }

  // The best group in which this job allows the shortest iteration.
  double price_anchor(int anchor) {
    const auto at = static_cast<std::size_t>(anchor);
    const Job& job = jobs_[at];
    anchor_ = anchor;
    period_s_ = limit_s_[at];
    worth_ = std::max(kWorth, best_ratio_[at]) * usd_;
    chosen_ = {&job};
    numbers_ = {anchor};
    if (!fits(job)) return 0;
    extend(0, price_of(at), job.training_s_on(training_nodes_), job.sync_s, job.training_host_bytes,
           2 * period_s_ - work_s(job));
    return best_ratio_[at];
  }

  [[nodiscard]] bool fits(const Job& job) const {
    return job.rollout_s + job.training_s_on(training_nodes_) + job.sync_s <= period_s_;
  }

  // Adds jobs from position `first` of the order on.
  void extend(std::size_t first, double worth, double training_s, double sync_s, double bytes, double left_s) {
    if (worth > worth_ && has_pinning()) {
      worth_ = worth;
      best_ratio_[static_cast<std::size_t>(anchor_)] = worth / usd_;
      best_[static_cast<std::size_t>(anchor_)] = {numbers_, usd_};
    }
    const int slots = pools_.max_members - static_cast<int>(numbers_.size());
    if (slots <= 0) return;
    for (std::size_t i = first; i < order_.size(); ++i) {
      const int j = order_[i];
      if (worth + std::min(slots * highest_[i], density_of(j) * left_s) <= worth_) return;
      if (j == anchor_) continue;
      const auto at = static_cast<std::size_t>(j);
      if (limit_s_[at] < period_s_ || (limit_s_[at] == period_s_ && j < anchor_)) continue;
      const Job& job = jobs_[at];
      const double trains_s = training_s + job.training_s_on(training_nodes_);
      const double left_after_s = left_s - work_s(job);
      if (trains_s > period_s_ || left_after_s < 0 || sync_s + job.sync_s > period_s_ || !fits(job) ||
          !pools_.training.holds(bytes + job.training_host_bytes))
        continue;
      chosen_.push_back(&job);
      numbers_.push_back(j);
      if (has_pinning())
        extend(i + 1, worth + price_of(at), trains_s, sync_s + job.sync_s, bytes + job.training_host_bytes,
               left_after_s);
      chosen_.pop_back();
      numbers_.pop_back();
    }
  }

  // For jobs of several nodes only the sum of their work counts: more groups are possible then, and the bound is lower.
  [[nodiscard]] bool has_pinning() const {
    double rollout_s = 0;
    bool is_narrow = true;
    for (const Job* job : chosen_) {
      rollout_s += job->rollout_s * job->rollout_nodes;
      is_narrow = is_narrow && job->rollout_nodes == 1;
    }
    if (!is_narrow) return rollout_s <= period_s_ * rollout_nodes_;
    int steps_left = kMaxPinningSteps;
    return any_pinning(chosen_, pools_, rollout_nodes_, period_s_, steps_left,
                       [](const auto&) { return true; });
  }

  [[nodiscard]] double price_of(std::size_t job) const { return (*prices_)[job]; }
  [[nodiscard]] double density_of(int job) const { return density_[static_cast<std::size_t>(job)]; }

  const std::vector<Job>& jobs_;
  const Pools& pools_;
  bool training_may_grow_;
  std::vector<double> limit_s_;  // of an iteration, by job
  int widest_rollout_ = 1, widest_training_ = 1;
  const std::vector<double>* prices_ = nullptr;
  std::vector<Column> best_;  // by the job that allows the shortest iteration
  std::vector<double> best_ratio_;
  // The size that is priced.
  int rollout_nodes_ = 1, training_nodes_ = 1;
  double usd_ = 0;
  std::vector<int> order_;  // jobs by price for their work
  std::vector<double> density_, highest_;
  // The group that grows.
  int anchor_ = 0;
  double period_s_ = 0, worth_ = 0;
  std::vector<const Job*> chosen_;
  std::vector<int> numbers_;
};

// The linear relaxation over some groups, the first of which are those of each job alone.
class Relaxation {
 public:
  explicit Relaxation(std::size_t jobs) : jobs_(jobs), solver_(make_milp_solver()) {}

  [[nodiscard]] bool has_solver() const { return solver_ != nullptr; }
  [[nodiscard]] int size() const { return static_cast<int>(columns_.size()); }

  bool add(Column column) {
    std::sort(column.jobs.begin(), column.jobs.end());
    const auto [entry, is_new] = known_.try_emplace(column.jobs, column.usd);
    if (!is_new && entry->second <= column.usd) return false;
    entry->second = column.usd;
    columns_.push_back(std::move(column));
    return true;
  }

  // Prices of the dual, not negative.
  [[nodiscard]] std::vector<double> prices() const {
    MilpProblem problem;
    std::vector<std::vector<MilpTerm>> rows(jobs_);
    for (const Column& column : columns_) {
      const int variable = problem.add_variable(0, kMilpInfinity, column.usd);
      for (const int job : column.jobs) rows[static_cast<std::size_t>(job)].push_back({variable, 1});
    }
    for (const std::vector<MilpTerm>& row : rows) problem.add_row(1, row, kMilpInfinity);
    // A job's price is what its own group costs less that group's reduced cost.
    std::vector<double> prices = solver_->solve(problem, {}).reduced_costs;
    if (prices.size() < jobs_) return {};
    prices.resize(jobs_);
    for (std::size_t j = 0; j < jobs_; ++j) prices[j] = std::max(columns_[j].usd - prices[j], 0.0);
    return prices;
  }

 private:
  std::size_t jobs_;
  std::unique_ptr<MilpSolver> solver_;
  std::vector<Column> columns_;
  std::map<std::vector<int>, double> known_;
};

// Shares of the groups' costs, in proportion to what the jobs would cost alone.
std::vector<double> first_prices(const std::vector<Job>& jobs, const Pools& pools,
                                 const std::vector<Column>& start) {
  std::vector<double> prices;
  for (const Job& job : jobs) prices.push_back(pools.usd_per_hour(job));
  const std::vector<double> alone = prices;
  for (const Column& column : start) {
    double all = 0;
    for (const int job : column.jobs) all += alone[static_cast<std::size_t>(job)];
    for (const int job : column.jobs) {
      double& price = prices[static_cast<std::size_t>(job)];
      price = std::min(price, column.usd * alone[static_cast<std::size_t>(job)] / all);
    }
  }
  return prices;
}

std::vector<Column> columns_of(const std::vector<Job>& jobs, const Pools& pools,
                               const std::vector<Group>& groups) {
  std::map<std::string, int> number;
  for (std::size_t j = 0; j < jobs.size(); ++j) number.emplace(jobs[j].name, static_cast<int>(j));
  std::vector<Column> columns;
  for (const Group& group : groups) {
    Column column{{}, group.usd_per_hour(pools)};
    for (const Member& member : group.members) column.jobs.push_back(number.at(member.job.name));
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

CostBound min_usd_per_hour(const std::vector<Job>& jobs, const Pools& pools, const std::vector<Group>& start,
                           double budget_s, bool training_may_grow) {
  CostBound bound;
  if (jobs.empty()) return bound;
  const auto began = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > budget_s;
  };
  std::vector<Column> known = columns_of(jobs, pools, start);
  std::vector<double> prices = first_prices(jobs, pools, known);
  Relaxation relaxation(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j)
    relaxation.add({{static_cast<int>(j)}, pools.usd_per_hour(jobs[j])});
  for (Column& column : known) relaxation.add(std::move(column));
  Pricing pricing(jobs, pools, training_may_grow);
  for (;;) {
    std::vector<Column> found;
    const double rho = std::max(1.0, pricing.price(prices, found));
    const double worth = std::accumulate(prices.begin(), prices.end(), 0.0);
    bound.usd_per_hour = std::max(bound.usd_per_hour, worth / rho);
    ++bound.rounds;
    bool has_new = false;
    for (Column& column : found) has_new = relaxation.add(std::move(column)) || has_new;
    bound.groups = relaxation.size();
    bound.is_tight = bound.rounds > 1 && !has_new;
    if (bound.is_tight || !relaxation.has_solver() || is_over()) return bound;
    prices = relaxation.prices();
    if (prices.size() != jobs.size()) return bound;
  }
}

}  // namespace sextant::coschedule
