#include "planner/sha_ea/sha_ea.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <thread>

#include "core/units.h"
#include "costmodel/predict.h"
#include "planner/sha_ea/island.h"

namespace sextant {
namespace {

constexpr int kIslands = 4;  // whatever the number of threads, so that it does not matter

// Curves of all islands as one: what was best when, evaluations counted over all.
std::vector<Improvement> merged(const std::vector<std::unique_ptr<Island>>& islands) {
  std::vector<Improvement> all;
  for (const auto& island : islands) {
    for (Improvement improvement : island->improvements()) {
      improvement.evaluations *= islands.size();
      all.push_back(improvement);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Improvement& a, const Improvement& b) { return a.evaluations < b.evaluations; });
  std::vector<Improvement> best;
  for (const Improvement& improvement : all) {
    if (best.empty() || improvement.iteration_s < best.back().iteration_s) best.push_back(improvement);
  }
  return best;
}

void run_all(std::vector<std::unique_ptr<Island>>& islands, int threads) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < islands.size(); i = next++) islands[i]->run();
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
}

}  // namespace

PlanResult plan_by_sha_ea(const PlanRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  Budget budget = request.budget;
  if (budget.seconds <= 0 && budget.evaluations == 0) budget.seconds = 1;
  const int threads = std::clamp(request.threads, 1, kIslands);
  // Seconds are for all: islands that share a thread take turns. Evaluations are dealt to them.
  std::vector<std::unique_ptr<Island>> islands;
  const int count = budget.evaluations > 0
                        ? static_cast<int>(std::min<std::uint64_t>(kIslands, budget.evaluations))
                        : threads;
  Budget own = budget;
  own.evaluations = budget.evaluations / static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = request.seed * kIslands + static_cast<std::uint64_t>(i);
    islands.push_back(std::make_unique<Island>(request, seed, own, start));
  }
  run_all(islands, threads);
  PlanResult result;
  result.gap_fraction = std::numeric_limits<double>::infinity();
  const Island* best = nullptr;
  for (const auto& island : islands) {
    result.candidates += island->evaluations();
    result.feasible += island->feasible();
    if (island->has_plan() && (best == nullptr || island->best().is_better_than(best->best()))) {
      best = island.get();
    }
  }
  if (best == nullptr) {
    result.message = "no plan of " + std::to_string(result.candidates) + " that were looked at fits";
    return result;
  }
  result.outcome = PlanOutcome::found;
  result.plan = best->plan(request.workflow.name + "-sha-ea");
  result.prediction =
      predict(request.cluster, request.workflow, *result.plan, request.coefficients, request.framework);
  result.improvements = merged(islands);
  result.message = "best of " + std::to_string(result.feasible) + " plans that fit, of " +
                   std::to_string(result.candidates) + " that were looked at";
  return result;
}

}  // namespace sextant
