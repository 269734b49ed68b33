// No plan is faster than the bound for all plans: every plan of tiny clusters, drawn and searched plans of
// others.
#include "planner/exact/bound.h"

#include <gtest/gtest.h>

#include "planner/exact/exact.h"
#include "planner/exact/exhaustive.h"
#include "planner/sha_ea/sha_ea.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/exact/unit_space_case.h"
#include "tests/planner/neutral.h"
#include "tests/planner/verify/random_plans.h"

namespace sextant::test {
namespace {

// Everything that the bound reads at other values than the neutral ones, and more that it must not need.
Coefficients drawn_coefficients(std::mt19937& random) {
  Coefficients coefficients;
  for (const CoefficientSpec& spec : coefficient_table()) {
    std::uniform_real_distribution<double> near(0.7, 1.3);
    Coefficient coefficient;
    coefficient.id = spec.id;
    coefficient.value = std::clamp(spec.prior * near(random), spec.lower, spec.upper);
    coefficients.values.push_back(coefficient);
  }
  return coefficients;
}

TEST(LeastSplit, ByHand) {
  // Two devices, twice as fast as the third: 10 s alone is 10 / 5 s of the slow one's rate together.
  EXPECT_DOUBLE_EQ(min_split_s({{10, 20}}, {2, 1}), 4);
  // Items that are proportional add up.
  EXPECT_DOUBLE_EQ(min_split_s({{10, 20}, {5, 10}}, {2, 1}), 6);
  // Each device has an item that it is good at: 1 s each is best, and no bound may be above.
  EXPECT_NEAR(min_split_s({{1, 10}, {10, 1}}, {1, 1}), 1, 1e-3);
  EXPECT_LE(min_split_s({{1, 10}, {10, 1}}, {1, 1}), 1);
  // Times at the limits of a double end too, with a bound or without a number.
  EXPECT_FALSE(min_split_s({{1e307, 3e306}, {2e306, 1e307}}, {3, 5}) > 1e308);
  EXPECT_EQ(min_split_s({}, {1}), 0);
}

// Any split of any items takes at least as long.
TEST(LeastSplit, NoDrawnSplitIsFaster) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.1, 10);
  for (int round = 0; round < 200; ++round) {
    const std::vector<int> counts{1 + round % 3, 2, 1};
    std::vector<ItemTimes> items;
    items.reserve(4);
    for (int w = 0; w < 1 + round % 4; ++w)
      items.push_back({uniform(random), uniform(random), uniform(random)});
    std::vector<double> busy_s(3, 0);  // of a device of each type
    for (const ItemTimes& item : items) {
      const std::vector<double> parts{uniform(random), uniform(random), uniform(random)};
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += counts[k] * parts[k];
      for (std::size_t k = 0; k < 3; ++k) busy_s[k] += parts[k] / sum * item[k];
    }
    EXPECT_LE(min_split_s(items, counts), *std::max_element(busy_s.begin(), busy_s.end()) * (1 + kRounding));
  }
}

TEST(LeastIteration, OneDeviceByHand) {
  // With neutral coefficients, no links and nothing to split the bound leaves out what moves weights only.
  const Cluster cluster = cluster_of({{"a100", 1, 1}});
  Workflow workflow = small_grpo(Mode::synchronous, false);
  for (auto& [name, model] : workflow.models) model.layers = 2;
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  const PlanResult best = plan_exhaustively(request);
  ASSERT_EQ(best.outcome, PlanOutcome::found) << best.message;
  const double bound_s = min_iteration_s(request);
  EXPECT_LE(bound_s, best.prediction->iteration_s * (1 + kRounding));
  // Decoding counts the longer of reading and arithmetic where the neutral model has their sum.
  EXPECT_GT(bound_s, 0.5 * best.prediction->iteration_s);
}

TEST(LeastIteration, NoPlanOfATinyClusterIsFaster) {
  std::mt19937 random(2);
  for (int round = 0; round < 12; ++round) {
    const Cluster cluster = round % 2 == 0 ? cluster_of({{"a100", 1, 2}})
                                           : cluster_of({{"a100", 1, 1}, {"l4", 1, 1, "z2"}, {"l40s", 1, 1}});
    Workflow workflow = small_grpo(round % 3 == 0 ? Mode::asynchronous : Mode::synchronous, false);
    for (auto& [name, model] : workflow.models) model.layers = 4;
    const Coefficients coefficients = round < 2 ? Coefficients{} : drawn_coefficients(random);
    PlanRequest request{cluster, workflow, coefficients};
    request.limits.micro_batch_sequences = {1, 16};
    request.limits.try_uneven_stages = true;
    const PlanResult best = plan_exhaustively(request);
    ASSERT_EQ(best.outcome, PlanOutcome::found) << best.message;
    const double bound_s = min_iteration_s(request);
    EXPECT_LE(bound_s, best.prediction->iteration_s * (1 + kRounding)) << round;
    EXPECT_GT(bound_s, 0.05 * best.prediction->iteration_s) << round;
  }
}

TEST(LeastIteration, NoDrawnPlanIsFaster) {
  std::mt19937 random(3);
  const Cluster cluster = mixed_64();
  for (int round = 0; round < 8; ++round) {
    const Mode mode = round % 2 == 0 ? Mode::synchronous : Mode::asynchronous;
    Workflow workflow = ppo_8b(mode);
    if (round > 3) workflow.response_tokens = {LengthKind::lognormal, {}, {}, 600, round % 2 + 0.8, 4096};
    if (round == 6) workflow.prompts = 8;
    const Coefficients coefficients = round < 2 ? Coefficients{} : drawn_coefficients(random);
    PlanRequest request{cluster, workflow, coefficients};
    request.choices.resize(workflow.tasks.size());
    const auto execution = [&](std::size_t t) -> Execution& { return request.choices[t].executions.front(); };
    if (round > 5) execution(1).packed = execution(workflow.tasks.size() - 1).packed = true;
    execution(0).continuous_batching = execution(0).cuda_graphs = round % 4 > 1;
    execution(0).packed = round % 4 == 3;
    const double bound_s = min_iteration_s(request);
    Evaluator evaluator({cluster, workflow, coefficients, request.framework, request.choices, {}});
    for (int i = 0; i < 300; ++i) {
      const double time_s = evaluator.evaluate(random_candidate(random, evaluator, workflow, cluster)).time_s;
      ASSERT_LE(bound_s, time_s * (1 + kRounding)) << round;
    }
  }
}

// Any execution that keeps the precisions and trains all weights, on any plan that can be run: a thousand of
// them.
TEST(LeastIteration, HoldsForEveryExecution) {
  int tried = 0;
  for (unsigned seed = 1; tried < 1000; ++seed) {
    RandomCase drawn = random_case(seed);
    for (auto& [name, task] : drawn.plan.tasks) {
      Execution& execution = task.execution;
      execution.lora_rank = 0;
      execution.precision = execution.weight_precision = execution.expert_precision =
          execution.expert_weight_precision = execution.attention_precision = execution.cache_precision =
              execution.gradient_precision = std::nullopt;
    }
    try {
      check_plan(drawn.plan, drawn.workflow, drawn.cluster);
    } catch (const Error&) {
      continue;  // drawn out of order on purpose
    }
    ++tried;
    PlanRequest request{drawn.cluster, drawn.workflow, drawn.coefficients, drawn.framework};
    request.bounds_every_execution = true;
    const Prediction prediction =
        predict(drawn.cluster, drawn.workflow, drawn.plan, drawn.coefficients, drawn.framework);
    ASSERT_LE(min_iteration_s(request), prediction.iteration_s * (1 + kRounding)) << seed;
  }
}

// The longest of 8 responses takes its steps one after the other on any number of devices: a step reads all weights
// of a group of at most 32 devices, which are the heads of the model, and has its fixed times.
TEST(LeastIteration, WaitsForTheLongestResponse) {
  Workflow workflow = ppo_8b();
  workflow.prompts = 8;
  workflow.responses_per_prompt = 1;
  workflow.response_tokens = {LengthKind::lognormal, {}, {}, 600, 1.2, 16384};
  Coefficients coefficients;
  const double layer_s = 1e-4, step_s = 1e-3;
  const auto value_of = [](CoefficientId id, double value) {
    Coefficient coefficient;
    coefficient.id = id;
    coefficient.value = value;
    return coefficient;
  };
  coefficients.values = {value_of(CoefficientId::decode_graph_layer_overhead_s, layer_s),
                         value_of(CoefficientId::decode_step_overhead_s, step_s),
                         value_of(CoefficientId::decode_serialization_weight, 1)};
  const Cluster cluster = cluster_of({{"a100", 64}});
  PlanRequest request{cluster, workflow, coefficients};
  request.choices.resize(workflow.tasks.size());
  Execution& execution = request.choices.front().executions.front();
  execution.continuous_batching = execution.packed = execution.cuda_graphs = true;
  const Model& model = workflow.models.at("actor");
  const double weights = 32 * model.layer_parameters() + model.head_parameters();
  const double step = 2 * weights / 32 / 2039e9 + 32 * layer_s + step_s;
  const double longest_s = workflow.response_tokens.longest_of(8) * step;
  EXPECT_GE(min_iteration_s(request), longest_s);
  EXPECT_LE(min_iteration_s(request), 1.1 * longest_s);  // 512 devices do the rest in little time
  // An engine that works ahead never waits for it.
  workflow.mode = Mode::asynchronous;
  workflow.staleness = 1;
  EXPECT_LT(min_iteration_s(request), 0.5 * longest_s);
}

// A part's bound is that of a cluster without the other devices.
TEST(LeastIteration, OfAPartIsThatOfTheClusterOfThesePartsAlone) {
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const Cluster both = cluster_of({{"a100", 2}, {"l40s", 2}});
  const PlanRequest request{both, workflow, coefficients};
  const PartBound min_s_on = part_bound(request);
  std::vector<std::uint16_t> devices(32);
  std::iota(devices.begin(), devices.end(), std::uint16_t{0});
  EXPECT_DOUBLE_EQ(min_s_on(devices), min_iteration_s(request));
  const Cluster fast = cluster_of({{"a100", 2}}), slow = cluster_of({{"l40s", 1}});
  EXPECT_DOUBLE_EQ(min_s_on({devices.begin(), devices.begin() + 16}),
                   min_iteration_s({fast, workflow, coefficients}));
  EXPECT_DOUBLE_EQ(min_s_on({devices.begin() + 16, devices.begin() + 24}),
                   min_iteration_s({slow, workflow, coefficients}));
}

// Searches try to be as fast as they can: uneven stages and shares included.
TEST(LeastIteration, NoSearchedPlanIsFaster) {
  for (const SmallCase& small : small_cases()) {
    const Coefficients coefficients;
    PlanRequest request = request_of(small, coefficients);
    const double bound_s = min_iteration_s(request);
    const PlanResult exact = plan_exactly(request);
    ASSERT_EQ(exact.outcome, PlanOutcome::found) << small.name;
    EXPECT_LE(bound_s, exact.prediction->iteration_s * (1 + kRounding)) << small.name;
    request.budget.evaluations = 4000;
    const PlanResult searched = plan_by_sha_ea(request);
    ASSERT_EQ(searched.outcome, PlanOutcome::found) << small.name;
    EXPECT_LE(bound_s, searched.prediction->iteration_s * (1 + kRounding)) << small.name;
  }
}

TEST(LeastIteration, FasterDevicesLowerIt) {
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const Cluster slow = cluster_of({{"l4", 2}}), mixed = cluster_of({{"l4", 1}, {"a100", 1}}),
                fast = cluster_of({{"a100", 2}}), more = cluster_of({{"a100", 4}});
  const double slow_s = min_iteration_s({slow, workflow, coefficients}),
               mixed_s = min_iteration_s({mixed, workflow, coefficients}),
               fast_s = min_iteration_s({fast, workflow, coefficients}),
               more_s = min_iteration_s({more, workflow, coefficients});
  EXPECT_GT(slow_s, mixed_s);
  EXPECT_GT(mixed_s, fast_s);
  EXPECT_NEAR(more_s, fast_s / 2, kRounding * fast_s);  // ideal splitting
}

}  // namespace
}  // namespace sextant::test
