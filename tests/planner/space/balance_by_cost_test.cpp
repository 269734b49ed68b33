// Layers and sequences by what the cost model says of stages.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "planner/search/search_run.h"
#include "planner/space/balance.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

Shape stages_of(std::vector<int> layers, std::vector<int> sequences) {
  Shape shape;
  shape.layers = std::move(layers);
  shape.sequences = std::move(sequences);
  return shape;
}

double slowest_s(const Shape& shape, const std::vector<StageTime>& stages, const std::vector<int>& layers) {
  double slowest = 0;
  for (std::size_t j = 0; j < layers.size(); ++j)
    slowest = std::max(slowest, stages[j].time_s + (layers[j] - shape.layers[j]) * stages[j].layer_s);
  return slowest;
}

TEST(BalanceByCost, LeavesTheLeastSlowestStage) {
  const Shape even = stages_of({4, 4, 4}, {8});
  std::mt19937_64 random(5);
  int changed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<StageTime> stages;
    for (int j = 0; j < 3; ++j) {
      const double layer_s = 1 + static_cast<double>(random() % 100) / 25,
                   fixed_s = static_cast<double>(random() % 8);
      stages.push_back({4 * layer_s + fixed_s, layer_s});
    }
    double min_s = 1e300;
    for (int a = 1; a <= 10; ++a) {
      for (int b = 1; a + b <= 11; ++b) min_s = std::min(min_s, slowest_s(even, stages, {a, b, 12 - a - b}));
    }
    const Shape dealt = balanced(even, {stages});
    changed += dealt == even ? 0 : 1;
    EXPECT_EQ(std::accumulate(dealt.layers.begin(), dealt.layers.end(), 0), 12);
    EXPECT_LE(slowest_s(even, stages, dealt.layers), min_s / 0.995 + 1e-9);
    EXPECT_EQ(dealt.sequences, even.sequences);
  }
  EXPECT_GT(changed, 100);
}

// The second stage sends to afar, the second replica is half as fast.
TEST(BalanceByCost, DealsSequencesByWhatReplicasDoThen) {
  const Shape even = stages_of({6, 6}, {6, 6});
  const std::vector<StageTime> fast{{6, 1}, {10, 1}}, slow{{12, 2}, {16, 2}};
  const Shape dealt = balanced(even, {fast, slow});
  EXPECT_EQ(dealt.layers, (std::vector<int>{7, 5}));
  EXPECT_EQ(dealt.sequences, (std::vector<int>{7, 5}));
  // The stages of neither can do better, and next to nothing is gained with one layer more or less.
  const Shape same = balanced(even, {{{6, 1}, {6, 1}}, {{6.001, 1}, {6, 1}}});
  EXPECT_EQ(same, even);
}

TEST(BalanceByCost, LeavesSequencesThatWereDealtByLength) {
  Shape shape = stages_of({6, 6}, {9, 3});
  shape.length_ranks = {0, 1};
  const Shape dealt = balanced(shape, {{{6, 1}, {12, 1}}, {{3, 0.5}, {6, 0.5}}});
  EXPECT_EQ(dealt.layers, (std::vector<int>{9, 3}));
  EXPECT_EQ(dealt.sequences, shape.sequences);
  EXPECT_EQ(dealt.length_ranks, shape.length_ranks);
}

// Stages of unlike devices in two zones, where what is sent between these takes time too; and the vocabulary's
// head in the last, of generation too.
TEST(BalanceByCost, MakesTasksOverZonesFaster) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1, 8, "z2"}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  std::vector<std::uint16_t> all(16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  for (const int task : {0, 4}) {  // the actor's generation and training
    SearchRun by_speed(request, 0), by_cost(request, 0);
    by_speed.options().balance_load();
    by_cost.options().balance_load();
    by_cost.options().balance_load_by_cost();
    const Option& before = by_speed.options().of(task, all).front();
    const Option& after = by_cost.options().of(task, all).front();
    EXPECT_LT(after.value.time_s, 0.99 * before.value.time_s) << workflow.tasks[task].name;
    EXPECT_EQ(after.dealing, LoadSplit::by_cost) << workflow.tasks[task].name;
  }
}

// With as many layers as its stages say they would take, each takes that.
TEST(BalanceByCost, StagesTakeWhatTheySayTheyWouldWithOtherLayers) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1, 8, "z2"}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  SearchRun run(request, 0);
  Evaluator& evaluator = run.evaluator();
  std::vector<std::uint16_t> all(16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  for (int task = 0; task < evaluator.task_count(); ++task) {
    Shape shape;
    shape.tensor_parallel = 4;
    shape.layers = {8, 8, 8, 8};
    shape.sequences = {256};
    const auto stages_of_shape = [&](const Shape& other) {
      const int position = evaluator.shapes(task).add(other);
      return evaluator.stage_times(task, placed(other, position, DeviceOrder::by_replica, all)).front();
    };
    const std::vector<StageTime> even = stages_of_shape(shape);
    shape.layers = {11, 9, 7, 5};
    const std::vector<StageTime> uneven = stages_of_shape(shape);
    for (std::size_t stage = 0; stage < shape.layers.size(); ++stage) {
      const double said_s = even[stage].time_s + (shape.layers[stage] - 8) * even[stage].layer_s;
      EXPECT_NEAR(uneven[stage].time_s, said_s, 1e-9 * said_s) << workflow.tasks[task].name << ' ' << stage;
    }
  }
}

}  // namespace
}  // namespace sextant::test
