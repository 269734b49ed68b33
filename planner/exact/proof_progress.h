// How far branch and bound is: the best plan, what is still open, when to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "planner/evaluate/candidate.h"
#include "planner/planner.h"

namespace sextant {

class ProofProgress {
 public:
  // known_s: of a plan that there is already. floor_s: no plan takes less, whatever is left open.
  ProofProgress(const PlanRequest& request, double known_s, double floor_s)
      : request_(request),
        start_(std::chrono::steady_clock::now()),
        best_s_(known_s),
        floor_s_(floor_s),
        open_s_(std::numeric_limits<double>::infinity()) {}

  // A bound is open where it could still hide a plan that is better by more than rounding.
  [[nodiscard]] bool is_open(double bound_s) const { return bound_s < best_s_ * (1 - kRounding); }

  [[nodiscard]] bool has_best() const { return has_best_; }
  [[nodiscard]] double best_s() const { return best_s_; }
  [[nodiscard]] const Candidate& best() const { return best_; }
  [[nodiscard]] const std::vector<Improvement>& improvements() const { return improvements_; }
  void offer(const Candidate& candidate, double time_s) {
    ++evaluations_;
    if (!is_open(time_s)) return;
    best_ = candidate;
    best_s_ = time_s;
    has_best_ = true;
    improvements_.push_back({evaluations_, seconds(), time_s, time_s});
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
  void leave_open(double bound_s) { open_s_ = std::min(open_s_, std::max(bound_s, floor_s_)); }
  [[nodiscard]] bool is_stopped() const { return stopped_ != Proof::none; }

  // None where the search has ended by itself.
  [[nodiscard]] Proof stopped_by() const { return stopped_; }
  [[nodiscard]] double lower_bound_s() const { return std::min(best_s_, open_s_); }
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }

 private:
  static constexpr double kRounding = 1e-9;

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  const PlanRequest& request_;
  std::chrono::steady_clock::time_point start_;
  double best_s_, floor_s_, open_s_;
  Candidate best_;
  bool has_best_ = false;
  Proof stopped_ = Proof::none;
  std::uint64_t nodes_ = 0, evaluations_ = 0;
  std::vector<Improvement> improvements_;
};

}  // namespace sextant
