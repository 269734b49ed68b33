// The evaluator's numbers are the model's: on whole candidates and after any sequence of moves.
#include "planner/evaluate/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "costmodel/iteration.h"
#include "costmodel/terms/memory.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// The whole model, asked about plans.
class WholeModel {
 public:
  explicit WholeModel(const EvaluatedProblem& problem)
      : problem_(problem),
        hardware_(problem.cluster, problem.workflow.precision),
        values_(resolve(problem.coefficients, hardware_, problem.framework)) {}

  // The score of the candidate's plan.
  [[nodiscard]] Score of(const Evaluator& evaluator, const Candidate& candidate) const {
    const Plan plan = evaluator.plan_of(candidate, "candidate");
    check_plan(plan, problem_.workflow, problem_.cluster);
    const Problem<double> whole(problem_.workflow, plan, hardware_, values_);
    const std::vector<TaskWork> works = works_of(problem_.workflow, plan, problem_.cluster);
    Score score{iteration_cost(whole, std::span<const TaskWork>(works)).iteration_s, 0};
    for (const auto& [device, memory] : memory_of(works)) {
      score.excess_bytes =
          std::max(score.excess_bytes, memory.resident_bytes + memory.working_bytes - memory.capacity_bytes);
    }
    return score;
  }

 private:
  [[nodiscard]] std::vector<DeviceMemory> memory_of_some(std::span<const TaskWork> works) const {
    return plan_memory(works, problem_.cluster, values_, hardware_);
  }

  // The states of every task count, unless a rule makes a pass and the training of its model one engine. Random
  // candidates have the same layout for both by chance.
  [[nodiscard]] std::map<DeviceId, DeviceMemory> memory_of(std::span<const TaskWork> works) const {
    std::map<DeviceId, DeviceMemory> all;
    if (!problem_.one_copy_on_devices.empty()) {
      for (const DeviceMemory& memory : memory_of_some(works)) all.emplace(memory.device, memory);
      return all;
    }
    for (std::size_t t = 0; t < works.size(); ++t) {
      for (const DeviceMemory& memory : memory_of_some(works.subspan(t, 1))) {
        const auto [found, is_new] = all.emplace(memory.device, memory);
        if (is_new) continue;
        found->second.resident_bytes += memory.resident_bytes - values_.at(CoefficientId::memory_context_bytes,
                                                                           hardware_.type_index(memory.device));
        found->second.working_bytes = std::max(found->second.working_bytes, memory.working_bytes);
      }
    }
    return all;
  }

  const EvaluatedProblem& problem_;
  Hardware<double> hardware_;
  CoefficientValues<double> values_;
};

void expect_same(const Score& score, const Score& expected) {
  constexpr double kLastDigits = 1e-12;
  EXPECT_NEAR(score.time_s, expected.time_s, kLastDigits * expected.time_s);
  EXPECT_NEAR(score.excess_bytes, expected.excess_bytes, 1.0);  // of some 1e11
}

// The evaluator's number of a candidate that it did not come to by moves.
Score looked_up(Evaluator& fresh, Evaluator& moved) {
  for (int t = 0; t < moved.task_count(); ++t) {
    for (int s = fresh.shapes(t).size(); s < moved.shapes(t).size(); ++s)
      (void)fresh.shapes(t).add(moved.shapes(t).at(s));
  }
  return fresh.evaluate(moved.current());
}

// Coefficients that are not neutral, so that every term counts.
Coefficients fitted() {
  Coefficients coefficients;
  for (const CoefficientSpec& spec : coefficient_table()) {
    Coefficient coefficient;
    coefficient.id = spec.id;
    coefficient.value = coefficient.prior = spec.prior;
    coefficients.values.push_back(coefficient);
  }
  // So that a replica's needs change with its devices.
  for (const CoefficientId id : {CoefficientId::memory_state_weight, CoefficientId::memory_activation_weight}) {
    Coefficient of_type;
    of_type.id = id;
    of_type.device_type = "l40s";
    of_type.value = of_type.prior = 1.25;
    coefficients.values.push_back(of_type);
  }
  return coefficients;
}

// Links between nodes have a capacity one and a half times their rate.
Cluster with_trunks(const Cluster& cluster) {
  const auto add = [](LinkRate& rate) { rate.capacity_bytes_per_s = assumed(1.5 * rate.bytes_per_s.value); };
  std::map<LinkLevel, LinkRate> levels = cluster.levels();
  for (auto& [level, rate] : levels) {
    if (level != LinkLevel::within_node) add(rate);
  }
  std::vector<LinkException> exceptions = cluster.exceptions();
  for (LinkException& exception : exceptions) add(exception.rate);
  return Cluster(cluster.name(), cluster.device_types(), cluster.nodes(), levels, exceptions);
}

struct MoveCase {
  std::string name;
  Cluster cluster;
  Workflow workflow;
  Execution execution = {};
  WeightSyncMethod method = WeightSyncMethod::shortest;
  int moves = 25'000;
};

class Moves : public ::testing::TestWithParam<int> {
 public:
  static MoveCase at(int index) {
    Execution zero2, sharded, served;
    zero2.zero_stage = 2;
    sharded.zero_stage = 3;
    served.packed = served.continuous_batching = true;
    const LinkException bad{
        LinkScope::device, "a100-z1-0/1", "l40s-z1-0/3", {assumed(1e-3), assumed(1e8)}, true};
    // Zones that are farther from each other than their levels say (HetRL's countries).
    const LinkException far{LinkScope::zone, "z1", "z2", {assumed(5e-2), assumed(5e8)}, true};
    const LinkException abroad{LinkScope::region, "r1", "r2", {assumed(9e-2), assumed(1e8)}, true};
    const Cluster countries = cluster_of(
        {{"a100", 2, 4}, {"a100", 1, 4, "z2"}, {"l40s", 1, 4, "z2"}, {"l4", 2, 4, "z3", "r2"}}, {far, abroad});
    std::vector<MoveCase> cases = {
        {"mixed", mixed_64(), ppo_8b()},
        {"asynchronous", mixed_64(), ppo_8b(Mode::asynchronous)},
        {"serving", cluster_of({{"a100", 2}, {"l4", 3, 3}}), ppo_8b(), served},
        {"sharded gradients", cluster_of({{"a100", 2}, {"l40s", 2, 4}}), ppo_8b(), zero2},
        {"sharded weights", cluster_of({{"a100", 1}, {"l40s", 1, 4}}), ppo_8b(), sharded,
         WeightSyncMethod::shortest, 2'000},
        {"broadcast",
         cluster_of({{"a100", 2, 4}, {"l40s", 1, 4}}),
         ppo_8b(),
         {},
         WeightSyncMethod::broadcast,
         2'000},
        {"a bad cable",
         cluster_of({{"a100", 1}, {"l40s", 1}}, {bad}),
         ppo_8b(),
         {},
         WeightSyncMethod::shortest,
         2'000},
    };
    // Replicas that get their sequences by length, padded and packed.
    Workflow uneven = ppo_8b();
    uneven.response_tokens = {LengthKind::lognormal, {}, {}, 700, 0.8, 4096};
    cases.push_back({"lengths", cluster_of({{"a100", 2, 4}, {"l40s", 2, 4}}), uneven});
    cases.push_back({"packed lengths", cluster_of({{"a100", 2, 4}, {"l40s", 2, 4}}), uneven, served});
    cases.push_back({"sharded lengths", cluster_of({{"a100", 1}, {"l40s", 1, 4}}), uneven, sharded,
                     WeightSyncMethod::shortest, 2'000});
    cases.push_back({"countries", countries, ppo_8b(), {}, WeightSyncMethod::shortest, 4'000});
    cases.push_back({"trunks", with_trunks(countries), ppo_8b(), {}, WeightSyncMethod::shortest, 4'000});
    cases.push_back(
        {"trunks of levels", with_trunks(mixed_64()), ppo_8b(), {}, WeightSyncMethod::shortest, 2'000});
    cases.push_back({"trunks, sharded weights", with_trunks(countries), ppo_8b(), sharded,
                     WeightSyncMethod::shortest, 1'000});
    return cases[static_cast<std::size_t>(index)];
  }
};

TEST_P(Moves, EqualTheWholeModel) {
  const MoveCase planned = at(GetParam());
  SCOPED_TRACE(planned.name);
  const Coefficients coefficients = fitted();
  EvaluatedProblem problem{planned.cluster, planned.workflow, coefficients};
  problem.choices.assign(planned.workflow.tasks.size(), one_choice(planned.execution));
  problem.weight_sync.method = planned.method;
  const WholeModel model(problem);
  Evaluator evaluator(problem), fresh(problem);
  std::mt19937 random(static_cast<unsigned>(GetParam()) + 1);
  ShapeLimits limits;
  limits.try_recompute = true;
  limits.tensor_parallel_limit = 8;
  Candidate kept = random_candidate(random, evaluator, planned.workflow, planned.cluster, limits);
  Score kept_score = evaluator.evaluate(kept);
  expect_same(kept_score, model.of(evaluator, kept));
  for (int move = 0; move < planned.moves; ++move) {
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int c = 0; c < changes; ++c) {
      // A move may be costed on its way.
      if (c > 0 && random() % 4 == 0) (void)evaluator.score();
      const int task = static_cast<int>(random() % static_cast<unsigned>(evaluator.task_count()));
      const Placement& placement = evaluator.placement(task);
      const auto size = static_cast<unsigned>(placement.devices.size());
      const auto device =
          static_cast<std::uint16_t>(random() % static_cast<unsigned>(planned.cluster.device_count()));
      const bool used =
          std::find(placement.devices.begin(), placement.devices.end(), device) != placement.devices.end();
      const auto kind = random() % 40;
      if (kind == 0 && c == 0 && changes == 1) {
        evaluator.replace_task(
            task, random_placement(random, evaluator, task, planned.workflow, planned.cluster, limits));
      } else if (kind % 2 == 0 && !used) {
        evaluator.replace_device(task, static_cast<int>(random() % size), device);
      } else if (size > 1) {
        const int first = static_cast<int>(random() % size);
        evaluator.swap_positions(
            task, first, (first + 1 + static_cast<int>(random() % (size - 1))) % static_cast<int>(size));
      }
    }
    if (random() % 16 == 0) {
      evaluator.undo();
      const Score again = evaluator.score();
      EXPECT_EQ(again.time_s, kept_score.time_s);
      EXPECT_EQ(again.excess_bytes, kept_score.excess_bytes);
      evaluator.keep();
      continue;
    }
    const Score score = evaluator.score();
    const Score anew = looked_up(fresh, evaluator);
    EXPECT_EQ(score.time_s, anew.time_s);
    EXPECT_EQ(score.excess_bytes, anew.excess_bytes);
    constexpr int kCompared = 20;  // the whole model takes a hundred times as long
    if (move % kCompared == 0) expect_same(score, model.of(evaluator, evaluator.current()));
    if (random() % 2 == 0) {
      evaluator.keep();
      kept_score = score;
    } else {
      evaluator.undo();
    }
    if (HasFailure()) return;
  }
  // The state after all moves gives the same as an evaluator without a past.
  Evaluator last(problem);
  const Score again = looked_up(last, evaluator);
  EXPECT_EQ(again.time_s, kept_score.time_s);
  EXPECT_EQ(again.excess_bytes, kept_score.excess_bytes);
  expect_same(again, model.of(last, evaluator.current()));
}

// The pass of the critic has the layout of its training, as an engine rule would have it.
TEST(EvaluatorTest, CountsWeightsOnceForAPassOnTheTrainersEngine) {
  const Cluster cluster = cluster_of({{"a100", 2, 4}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients = fitted();
  EvaluatedProblem problem{cluster, workflow, coefficients};
  const auto number_of = [&](const char* name) {
    return static_cast<std::size_t>(&workflow.task(name) - workflow.tasks.data());
  };
  const std::size_t pass = number_of(task_names::kCriticInference),
                    critic = number_of(task_names::kCriticTraining);
  Evaluator twice(problem);
  problem.one_copy_on_devices = {{pass, critic}};
  Evaluator once(problem);
  std::mt19937 random(3);
  ShapeLimits limits;
  limits.tensor_parallel_limit = 4;
  Candidate candidate = random_candidate(random, once, workflow, cluster, limits);
  Shape shape = once.shapes(static_cast<int>(critic)).at(candidate.tasks[critic].shape);
  candidate.tasks[pass] = {once.shapes(static_cast<int>(pass)).add(shape), candidate.tasks[critic].devices};
  const Score score = once.evaluate(candidate);
  expect_same(score, WholeModel(problem).of(once, candidate));
  for (int t = 0; t < once.task_count(); ++t) {
    for (int s = twice.shapes(t).size(); s < once.shapes(t).size(); ++s)
      (void)twice.shapes(t).add(once.shapes(t).at(s));
  }
  EXPECT_GT(twice.evaluate(candidate).excess_bytes, score.excess_bytes + 1e9);
}

INSTANTIATE_TEST_SUITE_P(Cases, Moves, ::testing::Range(0, 14));

}  // namespace
}  // namespace sextant::test
