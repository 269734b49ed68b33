// How fast a search costs plans: PPO with 8B models on 64 GPUs of three types in three zones. How fast smaller
// clusters are planned with a proof.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "planner/exact/exact.h"
#include "planner/explain/explain.h"
#include "planner/mcmc/mcmc.h"
#include "planner/two_phase/two_phase.h"
#include "tests/planner/planning_instances.h"
#include "tests/planner/two_phase/hex_case.h"

namespace sextant {
namespace {

// The state of a running search: one plan like a good one, and many near it. Tables are warm, as they are after
// the first thousands of a search's millions of evaluations.
struct Searched {
  Cluster cluster = test::mixed_64();
  Workflow workflow = test::ppo_8b();
  Coefficients coefficients;
  Evaluator evaluator{{cluster, workflow, coefficients}};

  // Every task on as many devices as its shape has, whole machines in order.
  [[nodiscard]] Candidate plan(std::mt19937& random) {
    ShapeLimits limits;
    limits.tensor_parallel_limit = 8;
    return test::random_candidate(random, evaluator, workflow, cluster, limits);
  }
};

// Whole candidates one after the other, in which every task is placed otherwise than in the one before: what a
// search that combines options of tasks asks for (ReaL's chain, sha-ea's climbs), each option seen before.
void full_evaluations(benchmark::State& state) {
  Searched searched;
  std::mt19937 random(1);
  constexpr std::size_t kOptions = 32, kCandidates = 512;
  std::vector<Candidate> options;
  while (options.size() < kOptions) options.push_back(searched.plan(random));
  std::vector<Candidate> candidates(kCandidates);
  for (Candidate& candidate : candidates) {
    for (std::size_t t = 0; t < options.front().tasks.size(); ++t)
      candidate.tasks.push_back(options[random() % kOptions].tasks[t]);
  }
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
  const Cluster cluster = test::mixed_64();
  const Workflow workflow = test::ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  constexpr std::uint64_t kSteps = 300'000;
  request.budget.evaluations = kSteps;
  for (auto _ : state) benchmark::DoNotOptimize(plan_by_mcmc(request));
  state.counters["per_s"] =
      benchmark::Counter(static_cast<double>(kSteps), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(mcmc_steps)->Name("planner.mcmc_steps_per_s")->Unit(benchmark::kMillisecond);

// Nodes that it took; a search that ends without a proof is no measurement.
std::uint64_t proved(const Cluster& cluster, const Workflow& workflow) {
  const Coefficients coefficients;
  const PlanResult result = plan_exactly({cluster, workflow, coefficients});
  if (result.outcome != PlanOutcome::found || result.proof != Proof::optimal)
    throw std::runtime_error(workflow.name + ": " + result.message);
  return result.nodes;
}

// PPO with an actor and a critic of 8B on two machines of eight A100.
void exact_16gpu(benchmark::State& state) {
  const Cluster cluster = test::cluster_of({{"a100", 2}});
  const Workflow workflow = test::ppo_8b();
  std::uint64_t nodes = 0;
  for (auto _ : state) nodes = proved(cluster, workflow);
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["target_s"] = 0.1;
}
BENCHMARK(exact_16gpu)->Name("planner.exact_16gpu_s")->Unit(benchmark::kSecond);

// The time is that of the slowest instance.
void exact_24gpu_worst(benchmark::State& state) {
  double worst_s = 0, all_s = 0, instances = 0, nodes = 0;
  for (auto _ : state) {
    for (const test::Instance& instance : test::instances_of_24()) {
      const auto start = std::chrono::steady_clock::now();
      nodes = std::max(nodes, static_cast<double>(proved(instance.cluster, instance.workflow)));
      const double took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      worst_s = std::max(worst_s, took_s);
      all_s += took_s;
      ++instances;
    }
    state.SetIterationTime(worst_s);
  }
  state.counters["most_nodes"] = nodes;
  state.counters["mean_s"] = all_s / instances;
  state.counters["target_s"] = 10;
}
BENCHMARK(exact_24gpu_worst)
    ->Name("planner.exact_24gpu_worst_s")
    ->Unit(benchmark::kSecond)
    ->UseManualTime()
    ->Iterations(1);

// Responses as long tails are, so that the plan is made over sampled windows (section 4.2.2).
Workflow long_tailed() {
  Workflow workflow = test::hex_grpo();
  Lengths& lengths = workflow.response_tokens;
  lengths = {};
  lengths.kind = LengthKind::lognormal;
  lengths.median = 800;
  lengths.sigma = 0.8;
  lengths.max = 8192;
  return workflow;
}

PlanResult planned(PlanResult (*plan)(const PlanRequest&), const Cluster& cluster, const Workflow& workflow) {
  const Coefficients coefficients;
  PlanResult result = plan({cluster, workflow, coefficients});
  if (result.outcome != PlanOutcome::found) throw std::runtime_error(result.message);
  return result;
}

// AReaL-Hex's scheduler on its own cluster (seed 003, section 4.4), GRPO 8B, asynchronous. The paper's own took
// 14.9 s at 24 GPUs and 2.0 min at 56 (Table 5).
void two_phase(benchmark::State& state, int h800_machines, int h20_machines, double target_s) {
  const Cluster cluster = test::hex_cluster(h800_machines, h20_machines);
  const Workflow workflow = long_tailed();
  std::uint64_t plans = 0;
  for (auto _ : state) plans = planned(plan_by_two_phase, cluster, workflow).candidates;
  state.counters["plans"] = static_cast<double>(plans);
  state.counters["target_s"] = target_s;
}
void two_phase_24gpu(benchmark::State& state) { two_phase(state, 1, 2, 0.5); }
void two_phase_56gpu(benchmark::State& state) { two_phase(state, 3, 4, 2); }
BENCHMARK(two_phase_24gpu)->Name("planner.two_phase_24gpu_s")->Unit(benchmark::kSecond);
BENCHMARK(two_phase_56gpu)->Name("planner.two_phase_56gpu_s")->Unit(benchmark::kSecond);

// The planner with one of its phases replaced by an exhaustive one (Table 5); the time is that of the latter.
void two_phase_ablation(benchmark::State& state, PlanResult (*exhaustive)(const PlanRequest&),
                        int h800_machines, int h20_machines) {
  const Cluster cluster = test::hex_cluster(h800_machines, h20_machines);
  const Workflow workflow = long_tailed();
  const double guided_s = planned(plan_by_two_phase, cluster, workflow).prediction->iteration_s;
  double all_s = 0;
  for (auto _ : state) all_s = planned(exhaustive, cluster, workflow).prediction->iteration_s;
  state.counters["gap"] = guided_s / all_s - 1;
  state.counters["target_gap"] = 0.01;
}
// "w/o Repartition": every partition in place of the guided ones.
void two_phase_24gpu_gap(benchmark::State& state) { two_phase_ablation(state, plan_by_all_partitions, 1, 2); }
void two_phase_56gpu_gap(benchmark::State& state) { two_phase_ablation(state, plan_by_all_partitions, 3, 4); }
// "w/o Search": every layout.
void two_phase_24gpu_all(benchmark::State& state) { two_phase_ablation(state, plan_by_every_layout, 1, 2); }
void two_phase_56gpu_all(benchmark::State& state) { two_phase_ablation(state, plan_by_every_layout, 3, 4); }
BENCHMARK(two_phase_24gpu_gap)->Name("planner.two_phase_24gpu_gap")->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(two_phase_56gpu_gap)->Name("planner.two_phase_56gpu_gap")->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(two_phase_24gpu_all)
    ->Name("planner.two_phase_24gpu_every_layout")
    ->Unit(benchmark::kSecond)
    ->Iterations(1);
BENCHMARK(two_phase_56gpu_all)
    ->Name("planner.two_phase_56gpu_every_layout")
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

// Why a plan is the answer: alternatives planned, savings and flips predicted.
void explain_gpus(benchmark::State& state, int gpus, double target_s) {
  const test::Instance instance = test::instance_of(gpus);
  const Coefficients coefficients;
  PlanRequest request{instance.cluster, instance.workflow, coefficients};
  constexpr std::uint64_t kFirstPlans = 500;
  request.budget.evaluations = kFirstPlans;
  const Planner& planner = *find_planner("sha-ea");
  const PlanResult result = planner.plan(request);
  if (result.outcome != PlanOutcome::found) throw std::runtime_error(result.message);
  const CoefficientUncertainty doubt;
  std::size_t alternatives = 0;
  for (auto _ : state) alternatives = explain({request, planner, *result.plan, doubt}).alternatives.size();
  state.counters["alternatives"] = static_cast<double>(alternatives);
  state.counters["target_s"] = target_s;
}
void explain_64gpu(benchmark::State& state) { explain_gpus(state, 64, 3); }
void explain_1024gpu(benchmark::State& state) { explain_gpus(state, 1024, 10); }
BENCHMARK(explain_64gpu)->Name("planner.explain_64gpu_s")->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(explain_1024gpu)->Name("planner.explain_1024gpu_s")->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace sextant
