#include "planner/explain/savings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/explain/parts.h"
#include "tests/planner/explain/explain_case.h"

namespace sextant::test {
namespace {

constexpr double kDifference = 1e-5;  // of a central difference of a smooth function

const Saving* find(const std::vector<Saving>& savings, const std::string& name, const std::string& of) {
  for (const Saving& saving : savings) {
    if (saving.name == name && saving.of == of) return &saving;
  }
  return nullptr;
}

double sum_of(const std::vector<TimePart>& parts) {
  double sum = 0;
  for (const TimePart& part : parts) sum += part.seconds;
  return sum;
}

// With neutral coefficients every time is work by a rate or a latency, so that a cluster of which all is f
// times as fast takes 1 / f of the time (Euler: elasticities of all numbers sum to -1).
TEST(Savings, OfAllNumbersSumToOne) {
  const ExplainedCase it;
  double sum = 0;
  for (const Saving& saving : savings_of(it.request, *it.result.plan)) {
    if (saving.name == "device" || saving.name == "link") sum += saving.elasticity;
  }
  EXPECT_NEAR(sum, -1, 1e-3);  // kinks: a maximum may change within a step
}

// Memory and links so fast that arithmetic is all.
TEST(Savings, WhereAllIsArithmeticComputeIsAll) {
  ExplainedCase it;
  auto types = it.cluster.device_types();
  for (auto& [name, type] : types) {
    type.memory_bytes_per_s.value = 1e24;
    type.memory_bytes.value = 1e15;
  }
  auto levels = it.cluster.levels();
  for (auto& [level, rate] : levels) rate = {assumed(1e-24), assumed(1e24)};
  const Cluster fast("fast", types, it.cluster.nodes(), levels);
  const PlanRequest request{fast, it.workflow, it.coefficients};
  const std::vector<Saving> savings = savings_of(request, *it.result.plan);
  const Saving* compute = find(savings, "flop_per_s", "*");
  ASSERT_NE(compute, nullptr);
  EXPECT_NEAR(compute->elasticity, -1, kDifference);
  EXPECT_NEAR(compute->saved_fraction, 1 - 1 / 1.1, kDifference);
  for (const Saving& saving : savings) EXPECT_LE(saving.saved_fraction, compute->saved_fraction + 1e-12);
}

// A latency is a cost: less of it is better.
TEST(Savings, OfLatenciesAreOfLess) {
  ExplainedCase it;
  auto levels = it.cluster.levels();
  for (auto& [level, rate] : levels) rate.latency_s = assumed(0.1);
  const Cluster slow("slow", it.cluster.device_types(), it.cluster.nodes(), levels);
  const PlanRequest request{slow, it.workflow, it.coefficients};
  bool is_any = false;
  for (const Saving& saving : savings_of(request, *it.result.plan)) {
    if (saving.name != "link_latency_s") continue;
    is_any = true;
    EXPECT_GT(saving.elasticity, 0);
    EXPECT_GT(saving.saved_fraction, 0);
  }
  EXPECT_TRUE(is_any);
}

TEST(Parts, SumToTheIterationAndDifferencesToTheDifference) {
  const ExplainedCase it;
  const PlanResult other = find_planner("verl-colocated")->plan(it.request);
  const Prediction &mine = *it.result.prediction, &its = *other.prediction;
  EXPECT_NEAR(sum_of(parts_of(mine)) / mine.iteration_s, 1, 1e-9);
  EXPECT_NEAR(sum_of(differences_of(its, mine)), its.iteration_s - mine.iteration_s, 1e-9 * its.iteration_s);
  EXPECT_TRUE(differences_of(mine, mine).empty());
}

// Two tasks side by side: the shorter one holds up nothing.
TEST(Parts, GoToTheCriticalTasksAlone) {
  Prediction prediction;
  prediction.iteration_s = 10;
  prediction.weight_sync_s = 1;
  const auto add = [&](const std::string& name, double start_s, double end_s, int device) {
    TaskPrediction task;
    task.start_s = start_s;
    task.end_s = end_s;
    task.time_s = end_s - start_s;
    task.terms_s[Term::compute] = task.time_s;
    task.devices = {DeviceId{device}};
    prediction.tasks[name] = task;
  };
  add("first", 0, 4, 0);
  add("long", 4, 8, 0);
  add("short", 4, 7, 5);
  EXPECT_EQ(critical_tasks(prediction), (std::vector<std::string>{"first", "long"}));
  const std::vector<TimePart> expected{{"first", "compute", 4},
                                       {"long", "compute", 4},
                                       {"iteration", "between_tasks", 1},
                                       {"iteration", "weight_sync", 1}};
  EXPECT_EQ(parts_of(prediction), expected);
  // Device 0 is busy for 8 of 10 s, 5 for 3; 14 others do nothing.
  const std::vector<DeviceUse> uses = uses_of(explained_cluster(), prediction);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].used, 2);
  EXPECT_EQ(uses[0].devices, 8);
  EXPECT_NEAR(uses[0].idle_fraction, 1 - (0.8 + 0.3) / 8, 1e-12);
  EXPECT_EQ(uses[1].idle_fraction, 1);
}

}  // namespace
}  // namespace sextant::test
