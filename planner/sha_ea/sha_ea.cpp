#include "planner/sha_ea/sha_ea.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "planner/sha_ea/island.h"

namespace sextant {
namespace {

constexpr int kIslands = 4;  // whatever the number of threads, so that it does not matter

void run_all(std::vector<std::unique_ptr<Island>>& islands, int threads) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < islands.size(); i = next++) islands[i]->run();
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
}

// Called by islands on several threads: one at a time, and only where it is the best of all.
std::function<void(const Improvement&)> best_of_all(std::function<void(const Improvement&)> on_improvement) {
  struct Heard {
    std::mutex one_at_a_time;
    double least_loss = std::numeric_limits<double>::infinity();
  };
  return [heard = std::make_shared<Heard>(),
          on_improvement = std::move(on_improvement)](const Improvement& improvement) {
    const std::scoped_lock lock(heard->one_at_a_time);
    if (improvement.loss >= heard->least_loss) return;
    heard->least_loss = improvement.loss;
    on_improvement(improvement);
  };
}

// Each island's own budget and seed.
std::vector<PlanRequest> dealt_requests(const PlanRequest& request, int threads) {
  PlanRequest own = request;
  if (own.budget.seconds <= 0 && own.budget.evaluations == 0) own.budget.seconds = 1;
  // Seconds are for all: islands that share a thread take turns. Evaluations are dealt to them.
  const std::uint64_t count = own.budget.evaluations > 0
                                  ? std::min<std::uint64_t>(kIslands, own.budget.evaluations)
                                  : static_cast<std::uint64_t>(threads);
  own.budget.evaluations /= count;
  if (request.on_improvement) own.on_improvement = best_of_all(request.on_improvement);
  std::vector<PlanRequest> requests;
  for (std::uint64_t i = 0; i < count; ++i) {
    requests.push_back(own);
    requests.back().seed = request.seed * kIslands + i;
  }
  return requests;
}

}  // namespace

PlanResult plan_by_sha_ea(const PlanRequest& request) {
  const int threads = std::clamp(request.threads, 1, kIslands);
  const std::vector<PlanRequest> requests = dealt_requests(request, threads);
  std::vector<std::unique_ptr<Island>> islands;
  for (const PlanRequest& own : requests) islands.push_back(std::make_unique<Island>(own));
  run_all(islands, threads);
  std::vector<const SearchRun*> runs;
  for (const auto& island : islands) runs.push_back(&island->search());
  return result_of(runs, "sha-ea");
}

}  // namespace sextant
