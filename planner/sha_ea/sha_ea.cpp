#include "planner/sha_ea/sha_ea.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

#include "planner/search/exchange.h"
#include "planner/search/island_scheduler.h"
#include "planner/search/islands.h"
#include "planner/sha_ea/island.h"

namespace sextant::inline planner {
namespace {

constexpr int kIslands = 4;  // fixed, so that results do not depend on the number of threads

// Called by islands on several threads: serialises the calls and passes on only the best of all.
std::function<void(const Improvement&)> best_of_all(std::function<void(const Improvement&)> on_improvement) {
  struct Heard {
    std::mutex one_at_a_time;
    double min_loss = std::numeric_limits<double>::infinity();
  };
  return [heard = std::make_shared<Heard>(),
          on_improvement = std::move(on_improvement)](const Improvement& improvement) {
    const std::scoped_lock lock(heard->one_at_a_time);
    if (improvement.loss >= heard->min_loss) return;
    heard->min_loss = improvement.loss;
    on_improvement(improvement);
  };
}

// An island's place in the team of all ranks, and its own budget and seed.
struct Dealt {
  IslandTeam team;
  PlanRequest request;
};

// A different seed per island number; the first kIslands numbers have the seeds of a single rank.
std::uint64_t seed_of(std::uint64_t seed, int number) {
  constexpr std::uint64_t kFar = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: multiples lie far apart
  const auto n = static_cast<std::uint64_t>(number);
  return seed * kIslands + n % kIslands + n / kIslands * kFar;
}

// Threads of every rank. It is collective, so no rank starts before all are ready.
std::vector<int> threads_by_rank(const PlanRequest& request, int threads) {
  if (request.ranks == nullptr) return {threads};
  std::vector<int> all;
  for (const std::string& said : request.ranks->gather(std::to_string(threads))) all.push_back(std::stoi(said));
  return all;
}

// With a time limit every thread of every rank has an island. With an evaluation budget there are kIslands
// islands for any number of threads, and of ranks up to that number.
std::vector<Dealt> dealt(const PlanRequest& request, const std::vector<int>& all_threads) {
  const int ranks = static_cast<int>(all_threads.size());
  const int rank = request.ranks == nullptr ? 0 : request.ranks->rank();
  PlanRequest own = request;
  if (own.budget.seconds <= 0 && own.budget.evaluations == 0) own.budget.seconds = 1;
  if (request.on_improvement) own.on_improvement = best_of_all(request.on_improvement);
  std::vector<Dealt> islands;
  const auto add = [&](int number, int size) {
    islands.push_back({{number, size}, own});
    islands.back().request.seed = seed_of(request.seed, number);
  };
  if (own.budget.evaluations > 0) {
    const std::uint64_t count = std::min<std::uint64_t>(std::max(kIslands, ranks), own.budget.evaluations);
    own.budget.evaluations /= count;
    for (int number = rank; number < static_cast<int>(count); number += ranks)
      add(number, static_cast<int>(count));
  } else {
    const int first = std::accumulate(all_threads.begin(), all_threads.begin() + rank, 0);
    const int size = std::accumulate(all_threads.begin(), all_threads.end(), 0);
    const int threads = all_threads[static_cast<std::size_t>(rank)];
    for (int number = first; number < first + threads; ++number) add(number, size);
  }
  return islands;
}

// Runs an island and frees its tables, which takes a twentieth of its running time.
IslandEnd end_of(std::unique_ptr<Island> island, int number) {
  island->run();
  return island->search().end(number, "sha-ea");
}

// Runs the islands one after the other on one thread. Otherwise each has its own thread (the first uses this
// one), and `threads` of them run concurrently.
std::vector<IslandEnd> run_all(std::vector<std::unique_ptr<Island>> islands, const std::vector<Dealt>& dealt,
                               int threads) {
  std::vector<IslandEnd> ends(islands.size());
  const auto run = [&](std::size_t i) { ends[i] = end_of(std::move(islands[i]), dealt[i].team.number); };
  if (threads == 1) {
    for (std::size_t i = 0; i < islands.size(); ++i) run(i);
    return ends;
  }
  IslandScheduler turns(threads);
  const auto run_in_turns = [&](std::size_t i) {
    IslandScheduler::Slot turn(turns, islands[i]->search().evaluations_left());
    islands[i]->take(turn);
    run(i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < islands.size(); ++i) helpers.emplace_back(run_in_turns, i);
  if (!islands.empty()) run_in_turns(0);
  return ends;
}

}  // namespace

PlanResult plan_by_sha_ea(const PlanRequest& request) {
  // An evaluation budget is split over kIslands islands; with a time limit every thread has one.
  const int maximum = request.budget.evaluations > 0 ? kIslands : std::numeric_limits<int>::max();
  const int threads = std::clamp(request.threads, 1, maximum);
  const std::vector<int> all_threads = threads_by_rank(request, threads);
  const std::vector<Dealt> own = dealt(request, all_threads);
  std::vector<std::unique_ptr<Island>> islands;
  islands.reserve(own.size());
  IslandExchange exchange(own.size(), request.ranks);
  const bool may_tell = request.budget.evaluations == 0;  // otherwise results depend on timing
  for (std::size_t i = 0; i < own.size(); ++i)
    islands.push_back(
        std::make_unique<Island>(own[i].request, own[i].team, may_tell ? &exchange.end_of(i) : nullptr));
  const std::vector<IslandEnd> ends = run_all(std::move(islands), own, threads);
  PlanResult result = merged(request, request.ranks == nullptr ? ends : gathered(*request.ranks, ends));
  result.threads = std::accumulate(all_threads.begin(), all_threads.end(), 0);
  return result;
}

}  // namespace sextant::inline planner
