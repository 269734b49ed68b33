// The progress of branch and bound: the best plan, the open bound, and the end of the search.
//
// Bounds are times. The open times follow from the objective, the best plan and the rented devices, which are
// the same for all plans between two calls of begin_rent.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

inline constexpr double kNever = std::numeric_limits<double>::infinity();  // seconds that no plan can keep

class ProofProgress {
 public:
  // floor_s: lower bound of the time of any plan, including those left open.
  ProofProgress(const PlanRequest& request, double floor_s) : request_(request), floor_s_(floor_s) {
    set_open();
  }

  // Sets an existing plan that respects the limits.
  void set_incumbent(double time_s, const Rented& rented) { set_best(time_s, rented); }

  // Sets the rented devices of the following plans; no effect if the objective does not depend on devices.
  void begin_rent(const Rented& rented) {
    rented_ = rented;
    set_open();
  }

  // True if a plan with this bound could respect the limits and be better by more than rounding.
  [[nodiscard]] bool is_open(double bound_s) const { return bound_s < better_s_ && bound_s <= max_s_; }

  [[nodiscard]] bool has_best() const { return has_best_; }
  [[nodiscard]] double best_loss() const { return best_loss_; }
  [[nodiscard]] const Candidate& best() const { return best_; }
  [[nodiscard]] const std::vector<Improvement>& improvements() const { return improvements_; }
  // Counts a costed plan, and stores it if it is better.
  void offer(const Candidate& candidate, const Score& score) {
    ++evaluations_;
    if (!score.fits() || !is_open(score.time_s)) return;
    best_ = candidate;
    has_best_ = true;
    set_best(score.time_s, rented_);
    improvements_.push_back({evaluations_, seconds(), score.time_s, score.loss});
    if (request_.on_improvement) request_.on_improvement(improvements_.back());
  }

  // True if the search was cancelled or its time is spent. Checks the clock at once, for long computations
  // before the first node and between nodes. Bounds computed afterwards are invalid.
  [[nodiscard]] bool is_interrupted() {
    if (stopped_ != Proof::none) return true;
    const bool is_cancelled =
        request_.is_cancelled != nullptr && request_.is_cancelled->load(std::memory_order_relaxed);
    if (is_cancelled || (request_.budget.seconds > 0 && seconds() > request_.budget.seconds))
      stopped_ = Proof::time_limit;
    return stopped_ != Proof::none;
  }

  // Counts a node. Returns false if the budget is spent; the caller then calls leave_open for the rest.
  [[nodiscard]] bool may_go_on() {
    constexpr std::uint64_t kNodesBetweenLooks = 64;  // checks of the clock
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

  // Proof::none if the search ended by itself.
  [[nodiscard]] Proof stopped_by() const { return stopped_; }
  // Lower bound of loss_of() over all plans that respect the limits.
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

  // Sets the times with which plans on the rented devices are as good as the best, and respect the limits.
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
         max_s_ = kNone;  // open bounds are below the first, and at most the second
  Candidate best_;
  bool has_best_ = false;
  Proof stopped_ = Proof::none;
  std::uint64_t nodes_ = 0, evaluations_ = 0;
  std::vector<Improvement> improvements_;
};

}  // namespace sextant::inline planner
