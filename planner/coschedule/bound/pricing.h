// Groups that are worth more than they cost, at a price for each job: the pricing problem of the column generation
// that bounds the cost of placements (cost_bound.h). The search leaves out what only the order of turns decides, so
// that it allows every group that some schedule with one iteration of each member in each period can keep.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/exact/set_cover.h"
#include "planner/exact/work_budget.h"

namespace sextant::coschedule {

class Pricing {
 public:
  // The jobs, pools and budget must outlive the object. training_may_grow: groups may train on more nodes than their
  // largest job needs.
  Pricing(const std::vector<Job>& jobs, const Pools& pools, bool training_may_grow, WorkBudget& budget);

  // For each job that allows its group the shortest iteration, the groups that are worth most for their cost, if any
  // is worth more than it costs. The search looks at `steps` groups for each job and size (0: all), so it may
  // miss some, and those that it has not come to when the budget is spent.
  [[nodiscard]] std::vector<CostedSet> valuable(const std::vector<double>& prices, int steps);

  // An upper bound of worth over cost of any possible group, at most `tolerance` (relative) above the maximum if that
  // is at least one. Empty if the budget is spent before the end.
  [[nodiscard]] std::optional<double> max_ratio(const std::vector<double>& prices, double tolerance);

 private:
  // Numbers of nodes that are priced together, with the work of the last and the cost of the first, so that a bound
  // holds for all of them.
  struct Range {
    int first = 1, last = 1;
  };
  // A job on the size that is priced. alone_s: all of its phases.
  struct Sized {
    int job;
    double price, work_s, density, training_s, alone_s, limit_s;
  };
  [[nodiscard]] static std::vector<Range> ranges_to(int maximum);

  // Calls price_anchor for each size and job.
  void price_sizes(const std::vector<double>& prices);
  void price_size();
  void price_anchor(int anchor);
  void extend(std::size_t first, double worth, double training_s, double sync_s, double bytes, double left_s);
  [[nodiscard]] double max_worth(std::size_t first, double left_s);
  [[nodiscard]] Sized sized(int job) const;
  [[nodiscard]] bool has_pinning();
  // Counts the steps; returns true, and stops the search, if the budget is spent.
  bool is_spent_after(std::size_t steps);
  void keep(double worth);

  const std::vector<Job>& jobs_;
  const Pools& pools_;
  bool training_may_grow_;
  WorkBudget& budget_;
  std::vector<double> limit_s_;  // of an iteration, by job
  std::vector<int> by_limit_;    // jobs, the longest limit first
  int widest_rollout_ = 1, widest_training_ = 1;
  const std::vector<double>* prices_ = nullptr;
  bool is_stopped_ = false;

  // The search is for groups above the best ratio of their anchor (valuable), or of all (max_ratio).
  bool is_of_all_ = false;
  double tolerance_ = 0;
  int max_steps_ = 0;            // 0: no limit
  double ratio_ = 1;             // of all
  std::vector<CostedSet> best_;  // by anchor
  std::vector<double> best_ratio_;

  // The size that is priced.
  int rollout_nodes_ = 1, training_nodes_ = 1;
  double usd_ = 0;
  std::vector<Sized> sized_;   // by price for their work, the highest first
  std::vector<int> sized_at_;  // position by job; -1: not on this size
  double highest_price_ = 0;
  // The group that grows: its anchor allows the shortest iteration, and the others are among the eligible.
  std::vector<Sized> eligible_;
  std::vector<double> highest_;  // price from this one on
  int anchor_ = 0, steps_left_ = 0;
  double period_s_ = 0, worth_ = 0;  // the worth that a group must exceed
  std::vector<const Job*> chosen_;
  std::vector<int> numbers_;
};

}  // namespace sextant::coschedule
