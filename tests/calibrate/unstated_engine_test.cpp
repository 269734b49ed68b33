// Unstated values of a serving engine: running batch, memory, prefill chunks.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "calibrate/cross_validation.h"
#include "calibrate/evidence.h"
#include "calibrate/fit_result.h"
#include "calibrate/unstated.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/synthetic_runs.h"
#include "tests/calibrate/unstated_fit.h"

namespace sextant::test {
namespace {

using enum CoefficientId;
using enum UnstatedQuantity;

constexpr double kTwice = std::numbers::ln2;
constexpr double kSlopeRounding = 1e-12;
constexpr const char* kGroup = "a page";
// So little that a twentieth of it holds a few sequences.
constexpr double kMemoryBytes = 1e8;

TaskPlan& generation_of(Plan& plan) { return plan.tasks.at(task_names::kActorGeneration); }

// Runs with `change` applied to the generation of every plan, and measured so.
template <typename Change>
Runs served(const Change& change) {
  Runs runs = synthetic_runs(synthetic_truth());
  std::map<std::string, DeviceType> types{{"core", two_cores().type_of(DeviceId{0})}};
  types.at("core").memory_bytes = assumed(kMemoryBytes);
  for (auto& [name, cluster] : runs.clusters) {
    cluster = Cluster(cluster.name(), types, cluster.nodes(),
                      {{LinkLevel::within_node, {assumed(1e-6), assumed(8e9)}}});
  }
  for (auto& [name, plan] : runs.plans) {
    generation_of(plan).execution.continuous_batching = true;
    change(generation_of(plan));
  }
  measure_again(runs, synthetic_truth());
  return runs;
}

// The documents of every second workflow say what is `assumed` instead, and that it is unsaid.
template <typename Change>
Runs left_unsaid(Runs runs, UnstatedQuantity quantity, const Change& assumed) {
  for (sextant::Run& run : runs.runs) {
    if (!is_odd(run)) continue;
    assumed(generation_of(runs.plans.at(run.plan)));
    run.unstated = {{quantity, kGroup, 0.7}};
  }
  return runs;
}

FitResult engine_fitted(const Runs& runs) { return fit_free(runs); }

// The slopes of a predictor that reads the plan are those of what it does with the plan.
template <typename Value>
double slope_of(UnstatedQuantity quantity, const Runs& runs, const Value& value) {
  const PreparedRun run(runs, runs.runs.front());
  const auto predict = [&](const PreparedRun& of) {
    return std::vector<double>(of.times().size(), value(of.plan().tasks.at(task_names::kActorGeneration)));
  };
  return log_slopes(run, quantity, predict).front();
}

TEST(UnstatedEngine, SlopesAreSecantsAroundWhatThePlanSays) {
  const Runs runs = served([](TaskPlan& task) {
    task.decode_batch_sequences = 4;
    task.execution.kv_cache_bytes = 0.5 * kMemoryBytes;
    task.execution.prefill_chunk_tokens = 100;
  });
  const auto batch = [](const TaskPlan& task) { return std::pow(task.decode_batch_sequences, -2.0); };
  EXPECT_NEAR(slope_of(decode_batch_sequences, runs, batch), -2, kSlopeRounding);
  const auto chunk = [](const TaskPlan& task) { return std::sqrt(task.execution.prefill_chunk_tokens); };
  EXPECT_NEAR(slope_of(prefill_chunk_tokens, runs, chunk), 0.5, kSlopeRounding);
  const auto cache = [](const TaskPlan& task) {
    return std::exp(3 * task.execution.kv_cache_bytes / kMemoryBytes);
  };
  EXPECT_NEAR(slope_of(memory_share, runs, cache), 3, kSlopeRounding);
  // Each leaves the settings of the others alone.
  EXPECT_EQ(slope_of(decode_batch_sequences, runs, chunk), 0);
  EXPECT_EQ(slope_of(prefill_chunk_tokens, runs, cache), 0);
  EXPECT_EQ(slope_of(memory_share, runs, batch), 0);
}

TEST(UnstatedEngine, WithoutABatchInThePlanItIsThatOfTheLargestReplica) {
  const Runs runs = served([](TaskPlan&) {});  // the first has one replica with 8 sequences
  ASSERT_EQ(runs.workflow_of(runs.runs.front()).sequences(), 8);
  double minimum = 1e9, maximum = 0;
  (void)slope_of(decode_batch_sequences, runs, [&](const TaskPlan& task) {
    minimum = std::min<double>(minimum, task.decode_batch_sequences);
    maximum = std::max<double>(maximum, task.decode_batch_sequences);
    return 1.0;
  });
  EXPECT_EQ(minimum, 4);
  EXPECT_EQ(maximum, 16);
}

// However little memory is left: without any bytes a plan would have no limit at all.
TEST(UnstatedEngine, ALittleCacheStaysALimit) {
  const Runs runs = served([](TaskPlan& task) { task.execution.kv_cache_bytes = 0.01 * kMemoryBytes; });
  (void)slope_of(memory_share, runs, [](const TaskPlan& task) {
    EXPECT_GT(task.execution.kv_cache_bytes, 0);
    return 1.0;
  });
}

// Places are refilled one by one, so steps are n L / c: where each takes as long, time falls with the batch.
TEST(UnstatedEngine, AStepThatTakesAsLongForAnyBatchHasASlopeOfMinusOne) {
  Runs runs = served([](TaskPlan& task) { task.decode_batch_sequences = 2; });
  for (auto& [name, workflow] : runs.workflows) workflow.prompt_tokens = fixed_length(1);
  Coefficients steps = synthetic_truth();
  steps.values[static_cast<std::size_t>(decode_step_overhead_s)].value = 1;  // all else takes milliseconds
  steps.values[static_cast<std::size_t>(decode_token_overhead_s)].value = 0;
  const sextant::Run& run = runs.runs.front();
  const PreparedRun prepared(runs, run);
  const auto predict = [&](const PreparedRun& of) {
    return of.predict(resolve(steps, Hardware<double>(of.cluster()), of.run().framework));
  };
  const std::vector<double> slopes = log_slopes(prepared, decode_batch_sequences, predict);
  constexpr double kOfTheRest = 0.01;
  for (std::size_t t = 0; t < slopes.size(); ++t) {
    const std::string& what = prepared.times()[t].what;
    if (what == task_names::kActorGeneration) {
      EXPECT_NEAR(slopes[t], -1, kOfTheRest);
    } else if (what == task_names::kActorTraining) {
      EXPECT_EQ(slopes[t], 0);
    }
  }
}

TEST(UnstatedEngine, RangesAreOfSettingsThatCanBe) {
  EXPECT_NEAR(range_of(decode_batch_sequences).upper, std::log(8), kSlopeRounding);
  EXPECT_NEAR(range_of(decode_batch_sequences).lower, -std::log(8), kSlopeRounding);
  EXPECT_EQ(range_of(prefill_chunk_tokens).upper, range_of(decode_batch_sequences).upper);
  EXPECT_EQ(range_of(memory_share).lower, -0.3);
  EXPECT_EQ(range_of(memory_share).upper, 0.1);  // of an assumed 0.9
}

TEST(UnstatedEngine, WhatHasNoInfluenceIsNoParameter) {
  Runs runs = served([](TaskPlan& task) {  // all fit, and a chunk is a micro-batch
    task.decode_batch_sequences = 64;
    task.execution.kv_cache_bytes = 0.9 * kMemoryBytes;
  });
  for (sextant::Run& run : runs.runs) {
    run.unstated = {{decode_batch_sequences, kGroup, 0.7}, {prefill_chunk_tokens, kGroup, 0.7}};
  }
  const std::vector<PreparedRun> prepared = prepare(runs, names_of(runs));
  Evidence evidence(runs, pointers_to(prepared), {}, {});
  ASSERT_EQ(evidence.nuisances().size(), 2U);
  const std::vector<double> coordinates = evidence.prior_coordinates();
  evidence.find_relevant(coordinates);
  for (std::size_t n = 0; n < 2; ++n) EXPECT_EQ(evidence.column_of()[evidence.parameters().size() + n], -1);
  const FitResult open = engine_fitted(runs), said = engine_fitted(without_unstated(runs));
  EXPECT_TRUE(open.unstated.empty());
  for (const CoefficientId id : kFreeToMove) {
    EXPECT_NEAR(find(open.coefficients, id).value, find(said.coefficients, id).value, 1e-6);
  }
}

TEST(UnstatedEngine, AGroupIsAParameterWhereAnyOfItsRunsDependsOnIt) {
  const auto change = [](TaskPlan& task) { task.decode_batch_sequences = 6; };  // of 4 to 16 sequences
  const FitResult result = engine_fitted(left_unsaid(served(change), decode_batch_sequences, change));
  ASSERT_EQ(result.unstated.size(), 1U);
  EXPECT_NEAR(result.unstated[0].value, 0, 0.01);
}

TEST(UnstatedEngine, TheFitFindsTheRunningBatch) {
  const auto set = [](int sequences) {
    return [sequences](TaskPlan& task) { task.decode_batch_sequences = sequences; };
  };
  const FitResult result = engine_fitted(left_unsaid(served(set(4)), decode_batch_sequences, set(2)));
  ASSERT_EQ(result.unstated.size(), 1U);
  EXPECT_NEAR(result.unstated[0].value, kTwice, 0.1);  // larger batches have slower steps
  EXPECT_LT(result.unstated[0].deviation, 0.1);
}

TEST(UnstatedEngine, TheFitFindsPrefillChunks) {
  const auto set = [](int tokens) {
    return [tokens](TaskPlan& task) { task.execution.prefill_chunk_tokens = tokens; };
  };
  Runs runs = served(set(4));
  for (auto& [name, workflow] : runs.workflows) workflow.response_tokens = fixed_length(1);
  measure_again(runs, synthetic_truth());
  const FitResult result = engine_fitted(left_unsaid(std::move(runs), prefill_chunk_tokens, set(2)));
  ASSERT_EQ(result.unstated.size(), 1U);
  // Reading the weights in every pass takes a small part p of the time, which goes with 1 / chunk. Twice the
  // chunk takes p / 2 away; the secant over a factor of two either way is p (2 - 1 / 2) / 2, so the linear
  // value is 2 / 3 of what was planted.
  EXPECT_NEAR(result.unstated[0].value, 2.0 / 3 * kTwice, 0.05);
  EXPECT_LT(result.unstated[0].deviation, 0.15);
}

TEST(UnstatedEngine, TheFitFindsTheShareOfMemory) {
  constexpr double kSaid = 0.1, kTrue = 0.07;
  const auto set = [](double share) {
    return [share](TaskPlan& task) { task.execution.kv_cache_bytes = share * kMemoryBytes; };
  };
  const FitResult result = engine_fitted(left_unsaid(served(set(kTrue)), memory_share, set(kSaid)));
  ASSERT_EQ(result.unstated.size(), 1U);
  EXPECT_NEAR(result.unstated[0].value, kTrue - kSaid, 0.01);
}

TEST(UnstatedEngine, WhatIsUnsaidOfHeldOutRunsIsInTheirIntervals) {
  const auto change = [](TaskPlan& task) { task.decode_batch_sequences = 2; };
  const Runs runs = left_unsaid(served(change), decode_batch_sequences, change);
  const auto judged = [&](const Runs& of) {
    Fold odd{"odd", {}, {}};
    for (const sextant::Run& run : of.runs) (is_odd(run) ? odd.held_out : odd.fit).push_back(run.name);
    return cross_validate(of, {odd}, {}, knowing_all_but(kFreeToMove, synthetic_truth())).times;
  };
  const std::vector<HeldOut> open = judged(runs), believed = judged(without_unstated(runs));
  ASSERT_EQ(open.size(), believed.size());
  for (std::size_t t = 0; t < open.size(); ++t) {
    EXPECT_DOUBLE_EQ(open[t].predicted, believed[t].predicted);
    const bool depends = open[t].what == kIteration || open[t].what == task_names::kActorGeneration;
    const double added = open[t].log_variance - believed[t].log_variance;
    if (depends) {
      EXPECT_GT(added, 0) << open[t].run << " " << open[t].what;
    } else {
      EXPECT_EQ(added, 0) << open[t].run << " " << open[t].what;
    }
  }
}

}  // namespace
}  // namespace sextant::test
