#include "planner/exact/work_budget.h"

#include <algorithm>

namespace sextant::inline planner {
namespace {

// More steps than any search takes, and far from the limits of the type.
constexpr double kMaxWorkSteps = 1e18;

double wall_limit_s(const BoundBudget& budget) {
  if (budget.max_s > 0) return budget.max_s;
  constexpr double kMinute_s = 60;
  return kMinute_s * std::max(1.0, budget.work);
}

}  // namespace

WorkBudget::WorkBudget(const BoundBudget& budget)
    : left_(static_cast<std::int64_t>(std::min(budget.work * kStepsOfWork, kMaxWorkSteps))),
      max_s_(wall_limit_s(budget)) {}

void WorkBudget::look_at_clock() {
  until_clock_ = kBetweenLooks;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  if (left_ > 0 && passed.count() > max_s_) is_out_of_time_ = true;
}

}  // namespace sextant::inline planner
