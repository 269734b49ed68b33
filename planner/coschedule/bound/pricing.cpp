#include "planner/coschedule/bound/pricing.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "planner/coschedule/bound/cheapest_group.h"

namespace sextant::coschedule {
namespace {

constexpr double kWorth = 1 + 1e-7;  // a group below it is of no use

// Steps of the budget, by what they take.
constexpr std::size_t kPerSized = 30;     // a job, whose work on a size is worked out and put in order
constexpr std::size_t kPerEligible = 4;   // a job that may share a group with another one
constexpr std::size_t kPerGrown = 8;      // a job that may be added to a group
constexpr std::size_t kPerPinning = 200;  // the beginning of a search for nodes
constexpr std::size_t kPerPinningStep = 10;

}  // namespace

Pricing::Pricing(const std::vector<Job>& jobs, const Pools& pools, bool training_may_grow, WorkBudget& budget)
    : jobs_(jobs), pools_(pools), training_may_grow_(training_may_grow), budget_(budget) {
  for (const Job& job : jobs) {
    limit_s_.push_back(job.max_iteration_s() * (1 + kRounding));
    widest_rollout_ = std::max(widest_rollout_, job.rollout_nodes);
    widest_training_ = std::max(widest_training_, job.training_nodes);
  }
  by_limit_.resize(jobs.size());
  std::iota(by_limit_.begin(), by_limit_.end(), 0);
  std::stable_sort(by_limit_.begin(), by_limit_.end(), [&](int a, int b) {
    return limit_s_[static_cast<std::size_t>(a)] > limit_s_[static_cast<std::size_t>(b)];
  });
}

std::vector<CostedSet> Pricing::valuable(const std::vector<double>& prices, int steps) {
  is_of_all_ = false;
  tolerance_ = 0;
  max_steps_ = steps;
  is_stopped_ = false;
  best_.assign(jobs_.size(), {});
  best_ratio_.assign(jobs_.size(), 1.0);
  price_sizes(prices);
  std::vector<CostedSet> found;
  for (CostedSet& best : best_) {
    if (!best.elements.empty()) found.push_back(std::move(best));
  }
  return found;
}

std::optional<double> Pricing::max_ratio(const std::vector<double>& prices, double tolerance) {
  is_of_all_ = true;
  tolerance_ = tolerance;
  max_steps_ = 0;
  is_stopped_ = false;
  ratio_ = 1;
  price_sizes(prices);
  if (is_stopped_) return std::nullopt;
  return ratio_ * (1 + tolerance);
}

// Few nodes one by one, more in ranges of a tenth.
std::vector<Pricing::Range> Pricing::ranges_to(int maximum) {
  constexpr int kFew = 16;
  std::vector<Range> ranges;
  for (int first = 1; first <= maximum;) {
    const int last = std::min(maximum, first <= kFew ? first : first + first / 10);
    ranges.push_back({first, last});
    first = last + 1;
  }
  return ranges;
}

void Pricing::price_sizes(const std::vector<double>& prices) {
  prices_ = &prices;
  const double max_price = *std::max_element(prices.begin(), prices.end());
  const double top = pools_.max_members * max_price;  // no group is worth more
  // Sizes from small to large: a large one needs prices that few have.
  for (const Range& training : ranges_to((training_may_grow_ ? pools_.max_members : 1) * widest_training_)) {
    for (const Range& rollout : ranges_to(pools_.max_members * widest_rollout_)) {
      usd_ = pools_.usd_per_hour(rollout.first, training.first);
      if (top <= usd_ * (is_of_all_ ? ratio_ : kWorth)) break;
      rollout_nodes_ = rollout.last;
      training_nodes_ = training.last;
      price_size();
    }
  }
}

// The work is in node-seconds of an iteration, as shares of both pools' nodes.
Pricing::Sized Pricing::sized(int number) const {
  const auto j = static_cast<std::size_t>(number);
  const Job& job = jobs_[j];
  const double price = (*prices_)[j], training_s = job.training_s_on(training_nodes_),
               work_s = job.rollout_s * job.rollout_nodes / rollout_nodes_ + training_s;
  return {number,     price, work_s, price / work_s, training_s, job.rollout_s + training_s + job.sync_s,
          limit_s_[j]};
}

bool Pricing::is_spent_after(std::size_t steps) {
  budget_.spend(static_cast<std::int64_t>(steps));
  is_stopped_ = is_stopped_ || budget_.is_over();
  return is_stopped_;
}

void Pricing::price_size() {
  if (is_spent_after(kPerSized * jobs_.size())) return;
  sized_.clear();
  highest_price_ = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const Job& job = jobs_[j];
    if (job.rollout_nodes > rollout_nodes_ || job.training_nodes > training_nodes_ || (*prices_)[j] <= 0)
      continue;
    sized_.push_back(sized(static_cast<int>(j)));
    highest_price_ = std::max(highest_price_, (*prices_)[j]);
  }
  std::stable_sort(sized_.begin(), sized_.end(),
                   [](const Sized& a, const Sized& b) { return a.density > b.density; });
  sized_at_.assign(jobs_.size(), -1);
  for (std::size_t i = 0; i < sized_.size(); ++i)
    sized_at_[static_cast<std::size_t>(sized_[i].job)] = static_cast<int>(i);
  for (const int anchor : by_limit_) {
    if (sized_at_[static_cast<std::size_t>(anchor)] < 0) continue;
    if (is_spent_after(1)) return;
    price_anchor(anchor);
  }
}

// The best group in which this job allows the shortest iteration.
void Pricing::price_anchor(int anchor) {
  const auto at = static_cast<std::size_t>(anchor);
  const Sized& first = sized_[static_cast<std::size_t>(sized_at_[at])];
  anchor_ = anchor;
  period_s_ = first.limit_s;
  worth_ = (is_of_all_ ? ratio_ * (1 + tolerance_) : std::max(kWorth, best_ratio_[at])) * usd_;
  steps_left_ = max_steps_;
  const double left_s = 2 * period_s_ - first.work_s;
  const double others = std::min((pools_.max_members - 1) * highest_price_, sized_.front().density * left_s);
  if (first.alone_s > period_s_ || first.price + others <= worth_) return;
  if (is_spent_after(kPerEligible * sized_.size())) return;
  // A job is eligible if it and the anchor can share a group.
  eligible_.clear();
  for (const Sized& other : sized_) {
    const bool allows = other.limit_s > period_s_ || (other.limit_s == period_s_ && other.job > anchor);
    if (allows && other.work_s <= left_s && other.alone_s <= period_s_ &&
        first.training_s + other.training_s <= period_s_)
      eligible_.push_back(other);
  }
  highest_.assign(eligible_.size() + 1, 0.0);
  for (std::size_t i = eligible_.size(); i-- > 0;) highest_[i] = std::max(highest_[i + 1], eligible_[i].price);
  const Job& job = jobs_[at];
  chosen_ = {&job};
  numbers_ = {anchor};
  extend(0, first.price, first.training_s, job.sync_s, job.training_host_bytes, left_s);
}

void Pricing::keep(double worth) {
  const auto at = static_cast<std::size_t>(anchor_);
  if (is_of_all_) {
    ratio_ = worth / usd_;
    worth_ = worth * (1 + tolerance_);
    return;
  }
  worth_ = worth;
  best_ratio_[at] = worth / usd_;
  best_[at] = {numbers_, usd_};
}

// An upper bound of the worth of more jobs from position `first` on that have `left_s` of work together: those with the
// highest prices for their work, and a part of the next.
double Pricing::max_worth(std::size_t first, double left_s) {
  double worth = 0;
  std::size_t i = first;
  for (; i < eligible_.size(); ++i) {
    const Sized& next = eligible_[i];
    if (next.work_s >= left_s) {
      worth += next.density * left_s;
      break;
    }
    worth += next.price;
    left_s -= next.work_s;
  }
  (void)is_spent_after(kPerGrown + i - first);
  return worth;
}

// Adds jobs from position `first` of the eligible on.
void Pricing::extend(std::size_t first, double worth, double training_s, double sync_s, double bytes,
                     double left_s) {
  if (worth > worth_ && has_pinning()) keep(worth);
  const int slots = pools_.max_members - static_cast<int>(numbers_.size());
  if (slots <= 0) return;
  for (std::size_t i = first; i < eligible_.size(); ++i) {
    if (is_stopped_) return;
    const Sized& next = eligible_[i];
    if (worth + std::min(slots * highest_[i], max_worth(i, left_s)) <= worth_) return;
    const Job& job = jobs_[static_cast<std::size_t>(next.job)];
    const double trains_s = training_s + next.training_s;
    const double left_after_s = left_s - next.work_s;
    if (trains_s > period_s_ || left_after_s < 0 || sync_s + job.sync_s > period_s_ ||
        !pools_.training.holds(bytes + job.training_host_bytes))
      continue;
    if (max_steps_ > 0 && --steps_left_ < 0) return;
    chosen_.push_back(&job);
    numbers_.push_back(next.job);
    if (has_pinning())
      extend(i + 1, worth + next.price, trains_s, sync_s + job.sync_s, bytes + job.training_host_bytes,
             left_after_s);
    chosen_.pop_back();
    numbers_.pop_back();
  }
}

// For jobs of several nodes only the sum of their work counts: more groups are possible then, and the bound is lower.
bool Pricing::has_pinning() {
  double rollout_s = 0;
  bool is_narrow = true;
  for (const Job* job : chosen_) {
    rollout_s += job->rollout_s * job->rollout_nodes;
    is_narrow = is_narrow && job->rollout_nodes == 1;
  }
  if (!is_narrow || rollout_s > period_s_ * rollout_nodes_) return rollout_s <= period_s_ * rollout_nodes_;
  if (static_cast<int>(chosen_.size()) <= rollout_nodes_) return true;
  int steps_left = kMaxPinningSteps;
  const bool has_one =
      any_pinning(chosen_, pools_, rollout_nodes_, period_s_, steps_left, [](const auto&) { return true; });
  (void)is_spent_after(kPerPinning + kPerPinningStep * static_cast<std::size_t>(kMaxPinningSteps - steps_left));
  return has_one;
}

}  // namespace sextant::coschedule
