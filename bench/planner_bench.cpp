// How fast a search costs plans: PPO with 8B models on 64 GPUs of three types in three zones.
#include <benchmark/benchmark.h>

#include "planner/mcmc/mcmc.h"
#include "tests/planner/planning_case.h"

namespace sextant {
namespace {

// What a search has before it: one plan as a good one looks, and many near it. Tables are warm, as they are
// after the first thousands of a search's millions.
struct Searched {
  Cluster cluster = testing::mixed_64();
  Workflow workflow = testing::ppo_8b();
  Coefficients coefficients;
  Evaluator evaluator{{cluster, workflow, coefficients}};

  // Every task on as many devices as its shape has, whole machines in order.
  [[nodiscard]] Candidate plan(std::mt19937& random) {
    ShapeLimits limits;
    limits.most_tensor_parallel = 8;
    return testing::random_candidate(random, evaluator, workflow, cluster, limits);
  }
};

// Whole candidates one after the other, all different from their neighbours: every task looked up again.
void full_evaluations(benchmark::State& state) {
  Searched searched;
  std::mt19937 random(1);
  std::vector<Candidate> candidates;
  constexpr int kCandidates = 512;
  for (int i = 0; i < kCandidates; ++i) candidates.push_back(searched.plan(random));
  for (const Candidate& candidate : candidates)
    benchmark::DoNotOptimize(searched.evaluator.evaluate(candidate));
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(searched.evaluator.evaluate(candidates[next]));
    next = (next + 1) % candidates.size();
  }
  state.counters["per_s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["target_per_s"] = 1e6;
}
BENCHMARK(full_evaluations)->Name("planner.full_evaluations_per_s");

// Two tasklets of one task change places, and back.
void move_evaluations(benchmark::State& state) {
  Searched searched;
  std::mt19937 random(1);
  (void)searched.evaluator.evaluate(searched.plan(random));
  struct Move {
    int task, first, second;
  };
  std::vector<Move> moves;
  constexpr int kMoves = 4096;
  while (moves.size() < kMoves) {
    const int task = static_cast<int>(random() % static_cast<unsigned>(searched.evaluator.task_count()));
    const auto size = searched.evaluator.placement(task).devices.size();
    if (size < 2) continue;
    const auto first = random() % size;
    moves.push_back(
        {task, static_cast<int>(first), static_cast<int>((first + 1 + random() % (size - 1)) % size)});
  }
  const auto tried = [&](const Move& move) {
    searched.evaluator.swap_positions(move.task, move.first, move.second);
    const Score score = searched.evaluator.score();
    searched.evaluator.undo();
    return score;
  };
  for (const Move& move : moves) benchmark::DoNotOptimize(tried(move));
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(tried(moves[next]));
    next = (next + 1) % moves.size();
  }
  state.counters["per_s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["target_per_s"] = 5e6;
}
BENCHMARK(move_evaluations)->Name("planner.move_evaluations_per_s");

// Steps of ReaL's Markov chain, its table of options included: what a second's budget buys.
void mcmc_steps(benchmark::State& state) {
  const Cluster cluster = testing::mixed_64();
  const Workflow workflow = testing::ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  constexpr std::uint64_t kSteps = 300'000;
  request.budget.evaluations = kSteps;
  for (auto _ : state) benchmark::DoNotOptimize(plan_by_mcmc(request));
  state.counters["per_s"] =
      benchmark::Counter(static_cast<double>(kSteps), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(mcmc_steps)->Name("planner.mcmc_steps_per_s")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sextant
