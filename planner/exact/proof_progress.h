// How far branch and bound is: the best plan, what is still open, when to stop.
//
// Bounds are of times. Which times are open follows from the objective, the best plan and what plans rent,
// which is the same for all that are looked at between one begin_rent and the next.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "sextant/planner.h"

namespace sextant {

inline constexpr double kNever = std::numeric_limits<double>::infinity();  // seconds that no plan can keep

class ProofProgress {
 public:
  // floor_s: no plan takes less, whatever is left open.
  ProofProgress(const PlanRequest& request, double floor_s) : request_(request), floor_s_(floor_s) {
    set_open();
  }

  // A plan that there is already, and that keeps the limits.
  void set_incumbent(double time_s, const Rented& rented) { set_best(time_s, rented); }

  // From here on plans rent this. It says nothing where the objective needs no devices (objective.h).
  void begin_rent(const Rented& rented) {
    rented_ = rented;
    set_open();
  }

  // A bound is open where it could still hide a plan that keeps the limits and is better by more than rounding.
  [[nodiscard]] bool is_open(double bound_s) const { return bound_s < better_s_ && bound_s <= max_s_; }

  [[nodiscard]] bool has_best() const { return has_best_; }
  [[nodiscard]] double best_loss() const { return best_loss_; }
  [[nodiscard]] const Candidate& best() const { return best_; }
  [[nodiscard]] const std::vector<Improvement>& improvements() const { return improvements_; }
  // A plan that was costed.
  void offer(const Candidate& candidate, const Score& score) {
    ++evaluations_;
    if (!score.fits() || !is_open(score.time_s)) return;
    best_ = candidate;
    has_best_ = true;
    set_best(score.time_s, rented_);
    improvements_.push_back({evaluations_, seconds(), score.time_s, score.loss});
    if (request_.on_improvement) request_.on_improvement(improvements_.back());
  }

  // Someone cancelled, or the time is spent: looked at now, for whatever takes long before the first node and
  // between nodes. Bounds that are asked for after it are none.
  [[nodiscard]] bool is_interrupted() {
    if (stopped_ != Proof::none) return true;
    const bool is_cancelled =
        request_.is_cancelled != nullptr && request_.is_cancelled->load(std::memory_order_relaxed);
    if (is_cancelled || (request_.budget.seconds > 0 && seconds() > request_.budget.seconds))
      stopped_ = Proof::time_limit;
    return stopped_ != Proof::none;
  }

  // Counts a node. False when the budget is spent: what is not looked at is then left_open.
  [[nodiscard]] bool may_go_on() {
    constexpr std::uint64_t kNodesBetweenLooks = 64;  // at the clock
    if (stopped_ != Proof::none) return false;
    if (request_.is_cancelled != nullptr && request_.is_cancelled->load(std::memory_order_relaxed))
      stopped_ = Proof::time_limit;
    if (request_.budget.evaluations > 0 && nodes_ >= request_.budget.evaluations) stopped_ = Proof::gap;
    if (request_.budget.seconds > 0 && nodes_ % kNodesBetweenLooks == 0 && seconds() > request_.budget.seconds)
      stopped_ = Proof::time_limit;
    if (stopped_ != Proof::none) return false;
    ++nodes_;
    return true;
  }
  void leave_open(double bound_s) {
    open_loss_ = std::min(open_loss_, loss_of(request_.objective, std::max(bound_s, floor_s_), rented_));
  }
  [[nodiscard]] bool is_stopped() const { return stopped_ != Proof::none; }

  // None where the search has ended by itself.
  [[nodiscard]] Proof stopped_by() const { return stopped_; }
  // Of loss_of() of any plan that keeps the limits.
  [[nodiscard]] double lower_bound() const { return std::min(best_loss_, open_loss_); }
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }

 private:
  static constexpr double kRounding = 1e-9;
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  void set_best(double time_s, const Rented& rented) {
    best_s_ = time_s;
    best_rented_ = rented;
    best_loss_ = loss_of(request_.objective, time_s, rented);
    set_open();
  }

  // The times of plans that rent what these do and are as good as the best, and the times that keep the limits.
  void set_open() {
    const bool has_any = best_s_ < kNone;
    better_s_ =
        has_any ? time_as_good(request_.objective, best_s_, best_rented_, rented_) * (1 - kRounding) : kNone;
    max_s_ = max_time_s(request_.objective, rented_) * (1 + kRounding);
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  const PlanRequest& request_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double floor_s_;
  Rented rented_, best_rented_;
  double best_s_ = kNone, best_loss_ = kNone, open_loss_ = kNone;
  double better_s_ = kNone,
         max_s_ = kNone;  // open is what takes less than the one, and no more than the other
  Candidate best_;
  bool has_best_ = false;
  Proof stopped_ = Proof::none;
  std::uint64_t nodes_ = 0, evaluations_ = 0;
  std::vector<Improvement> improvements_;
};

}  // namespace sextant
