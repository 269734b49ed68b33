#include "planner/exact/exhaustive.h"

#include <gtest/gtest.h>

#include "costmodel/terms/memory.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

Cluster pair_of(double first, double second, double memory_bytes = 1e6) {
  return Cluster(
      "pair",
      {{"first", device_type(first, 50, memory_bytes)}, {"second", device_type(second, 20, memory_bytes)}},
      {node("a", "first", 1), node("b", "second", 1)}, {{LinkLevel::within_zone, link_rate(5, 10)}});
}

SearchLimits few_sizes() {
  SearchLimits limits;
  limits.micro_batch_sequences = {1, 3};
  return limits;
}

bool fits(const Workflow& workflow, const Plan& plan, const Cluster& cluster) {
  for (const DeviceMemory& memory : plan_memory(workflow, plan, cluster)) {
    if (!memory.fits()) return false;
  }
  return true;
}

// Every combination of layouts, predicted one by one: nothing thinned, nothing kept.
double best_by_prediction(const Cluster& cluster, const Workflow& workflow, const SearchLimits& limits,
                          const Coefficients& coefficients = {}) {
  double best = 1e300;
  const auto generation = task_layouts(workflow.task("actor_generation"), workflow, cluster, limits);
  const auto reference = task_layouts(workflow.task("reference_inference"), workflow, cluster, limits);
  const auto training = task_layouts(workflow.task("actor_training"), workflow, cluster, limits);
  for (const TaskPlan& g : generation) {
    for (const TaskPlan& r : reference) {
      for (const TaskPlan& t : training) {
        const Plan plan = plan_with(g, r, t);
        if (fits(workflow, plan, cluster))
          best = std::min(best, predict(cluster, workflow, plan, coefficients).iteration_s);
      }
    }
  }
  return best;
}

class Exhaustive : public ::testing::TestWithParam<Mode> {};

TEST_P(Exhaustive, FindsTheBestOfAllPredictions) {
  const Workflow workflow = small_workflow(GetParam());
  for (const auto& [first, second] : {std::pair{100.0, 100.0}, {100.0, 40.0}, {100.0, 5.0}}) {
    const Cluster cluster = pair_of(first, second);
    const PlanResult result = plan_exhaustively({cluster, workflow, {}, std::string(kAny), few_sizes()});
    ASSERT_EQ(result.outcome, PlanOutcome::found);
    EXPECT_NEAR(result.prediction->iteration_s, best_by_prediction(cluster, workflow, few_sizes()), 1e-9);
    EXPECT_NO_THROW(check_plan(*result.plan, workflow, cluster));
    EXPECT_TRUE(fits(workflow, *result.plan, cluster));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Exhaustive, ::testing::Values(Mode::synchronous, Mode::asynchronous));

TEST(ExhaustiveSearch, CoefficientsChangeTheAnswer) {
  const Workflow workflow = small_workflow();
  const Cluster cluster = pair_of(100, 100);
  Coefficients slow_links;
  Coefficient c;
  c.id = CoefficientId::network_efficiency;
  c.value = 0.001;
  slow_links.values = {c};
  const PlanResult result = plan_exhaustively({cluster, workflow, slow_links, std::string(kAny), few_sizes()});
  EXPECT_NEAR(result.prediction->iteration_s, best_by_prediction(cluster, workflow, few_sizes(), slow_links),
              1e-9);
  EXPECT_EQ(result.plan->tasks.at("actor_training").data_parallel(), 1);
}

TEST(ExhaustiveSearch, TightMemoryForbidsWhatWouldBeFaster) {
  const Workflow workflow = small_workflow();
  const Cluster roomy = pair_of(100, 40), tight = pair_of(100, 40, 9000);
  const PlanResult free = plan_exhaustively({roomy, workflow, {}, std::string(kAny), few_sizes()});
  const PlanResult bound = plan_exhaustively({tight, workflow, {}, std::string(kAny), few_sizes()});
  ASSERT_EQ(bound.outcome, PlanOutcome::found) << bound.message;
  EXPECT_LT(bound.feasible, bound.candidates);
  EXPECT_GT(bound.prediction->iteration_s, free.prediction->iteration_s);
  EXPECT_NEAR(bound.prediction->iteration_s, best_by_prediction(tight, workflow, few_sizes()), 1e-9);
}

TEST(ExhaustiveSearch, SaysWhatIsShortWhenNothingFits) {
  const Workflow workflow = small_workflow();
  const Cluster none = pair_of(100, 40, 2000);
  const PlanResult result = plan_exhaustively({none, workflow, {}, std::string(kAny), few_sizes()});
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_NE(result.message.find("actor_training"), std::string::npos) << result.message;
  EXPECT_FALSE(result.plan.has_value());
}

TEST(ExhaustiveSearch, RefusesASpaceBeyondTheLimit) {
  SearchLimits limits = few_sizes();
  limits.max_plans = 10;
  const Workflow workflow = small_workflow();
  const Cluster cluster = pair_of(100, 40);
  EXPECT_EQ(plan_exhaustively({cluster, workflow, {}, std::string(kAny), limits}).outcome,
            PlanOutcome::too_large);
}

TEST(ExhaustiveSearch, RanksInOrder) {
  const Workflow workflow = small_workflow();
  const Cluster cluster = pair_of(100, 40);
  const std::vector<PlanResult> ranked =
      rank_exhaustively({cluster, workflow, {}, std::string(kAny), few_sizes()}, 5);
  ASSERT_EQ(ranked.size(), 5u);
  for (std::size_t i = 0; i + 1 < ranked.size(); ++i) {
    EXPECT_LE(ranked[i].prediction->iteration_s, ranked[i + 1].prediction->iteration_s);
    EXPECT_FALSE(ranked[i].plan->tasks == ranked[i + 1].plan->tasks);
  }
}

TEST(ExhaustiveSearch, RefusesCustomGraphs) {
  Workflow workflow = small_workflow();
  workflow.algorithm = Algorithm::custom;
  EXPECT_THROW((void)plan_exhaustively({pair_of(1, 1), workflow, {}, std::string(kAny), few_sizes()}), Error);
}

}  // namespace
}  // namespace sextant::test
