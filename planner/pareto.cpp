#include "planner/pareto.h"

#include <algorithm>
#include <cmath>

namespace sextant::inline planner {
namespace {

class Front {
 public:
  Front(const PlanRequest& request, const Planner& planner) : request_(request), planner_(planner) {}

  // Null where there is none.
  const ParetoPoint* add(Goal goal, double deadline_s) {
    PlanRequest request = request_;
    request.objective.goal = goal;
    if (deadline_s > 0) request.objective.max_iteration_s = deadline_s;
    PlanResult result = planner_.plan(request);
    if (result.outcome != PlanOutcome::found) return nullptr;
    const Rented rented = rented_by(*result.plan, request.cluster);
    const double usd = usd_per_iteration(rented, result.prediction->iteration_s);
    points_.push_back({std::move(result), rented, usd});
    return &points_.back();
  }

  // The points by time, without those that cost at least as much as a faster one.
  std::vector<ParetoPoint> done() {
    const auto time_s = [](const ParetoPoint& point) {
      return point.result.prediction ? point.result.prediction->iteration_s : 0;
    };
    std::stable_sort(points_.begin(), points_.end(),
                     [&](const ParetoPoint& a, const ParetoPoint& b) { return time_s(a) < time_s(b); });
    std::vector<ParetoPoint> kept;
    for (ParetoPoint& point : points_) {
      constexpr double kSame = 1e-9;  // relative
      if (kept.empty() || point.usd_per_iteration < kept.back().usd_per_iteration * (1 - kSame))
        kept.push_back(std::move(point));
    }
    return kept;
  }

 private:
  const PlanRequest& request_;
  const Planner& planner_;
  std::vector<ParetoPoint> points_;
};

}  // namespace

std::vector<ParetoPoint> pareto_front(const PlanRequest& request, const Planner& planner, int points) {
  Objective by_cost;
  by_cost.goal = Goal::cost;
  check_prices(by_cost, request.cluster);
  Front front(request, planner);
  const ParetoPoint* fastest = front.add(Goal::time, 0);
  if (fastest == nullptr) return {};
  const double bound_of_all_s = fastest->result.prediction->iteration_s;
  const ParetoPoint* cheapest = front.add(Goal::cost, 0);
  if (cheapest == nullptr) return front.done();
  const double longest_s = cheapest->result.prediction->iteration_s;
  for (int p = 1; p + 1 < points; ++p)
    (void)front.add(Goal::cost, bound_of_all_s * std::pow(longest_s / bound_of_all_s,
                                                          static_cast<double>(p) / (points - 1)));
  return front.done();
}

}  // namespace sextant::inline planner
