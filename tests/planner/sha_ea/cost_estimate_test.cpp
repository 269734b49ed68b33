// Candidates that need not be evaluated, because they cannot be better.
#include "planner/sha_ea/cost_estimate.h"

#include <gtest/gtest.h>

#include <random>

#include "planner/sha_ea/arrangement.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// A cluster whose memory is never short.
Cluster rented_gpus() {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}, {"l4", 1}});
  std::map<std::string, DeviceType> types = cluster.device_types();
  types["a100"].price_usd_per_hour = assumed(2.0);
  types["l40s"].price_usd_per_hour = assumed(1.0);
  types["l4"].price_usd_per_hour = assumed(0.5);
  for (auto& [name, type] : types) type.memory_bytes = assumed(1e13);
  return {cluster.name(), types, cluster.nodes(), cluster.levels()};
}

const std::vector<std::uint16_t> kA100s = {0, 1, 2, 3, 4, 5, 6, 7}, kHalfOfThem = {0, 1, 2, 3},
                                 kL40s = {8, 9, 10, 11, 12, 13, 14, 15}, kL4s = {16, 17, 18, 19};

struct Known {
  Known() = default;
  explicit Known(Workflow planned) : workflow(std::move(planned)) {}

  Cluster cluster = rented_gpus();
  Workflow workflow = ppo_8b();
  Coefficients neutral;
  PlanRequest request{cluster, workflow, neutral};
  SearchRun run{request, 0};
  CostEstimate prospects{request, run.evaluator()};
};

TEST(CostEstimate, AreThoseOfTheBestSetSoFar) {
  Known known;
  CostEstimate& prospects = known.prospects;
  EXPECT_FALSE(prospects.time_s(0, kA100s));
  prospects.learn(0, kA100s, 3.0);
  EXPECT_FALSE(prospects.time_s(1, kA100s));
  EXPECT_NEAR(*prospects.time_s(0, kA100s), 0.9 * 3.0, 1e-12);
  EXPECT_NEAR(*prospects.time_s(0, kHalfOfThem), 0.9 * 6.0, 1e-12);
  // L40S: faster arithmetic, slower memory, which is what counts.
  EXPECT_NEAR(*prospects.time_s(0, kL40s), 0.9 * 3.0 * 2039 / 864, 1e-9);
  prospects.learn(0, kHalfOfThem, 5.0);
  EXPECT_NEAR(*prospects.time_s(0, kA100s), 0.9 * 2.5, 1e-12);
  prospects.lower_threshold();
  EXPECT_NEAR(*prospects.time_s(0, kA100s), 0.81 * 2.5, 1e-12);
}

TEST(CostEstimate, AreNoWorseForABadSet) {
  Known known;
  known.prospects.learn(0, kA100s, 2.5);
  known.prospects.learn(0, kL4s, 1000.0);
  EXPECT_NEAR(*known.prospects.time_s(0, kA100s), 0.9 * 2.5, 1e-12);
}

// With the tasks' true times: any plan, any mode, any goal.
TEST(CostEstimate, AreNeverWorseThanThePlan) {
  const Cluster cluster = rented_gpus();
  const Coefficients neutral;
  std::mt19937 random(1);
  int apart = 0;
  for (const Mode mode : {Mode::synchronous, Mode::one_step_off, Mode::asynchronous}) {
    const Workflow workflow = ppo_8b(mode);
    for (const Goal goal : {Goal::time, Goal::cost, Goal::devices}) {
      PlanRequest request{cluster, workflow, neutral};
      request.objective.goal = goal;
      SearchTables tables(request);
      Evaluator& evaluator = tables.evaluator;
      const CostEstimate prospects(request, evaluator);
      for (int i = 0; i < 300; ++i) {
        const Candidate candidate = random_candidate(random, evaluator, workflow, cluster);
        const Score score = evaluator.evaluate(candidate);
        std::vector<CostEstimate::Devices> devices;
        std::vector<double> times_s;
        double sum_s = 0;
        for (int task = 0; task < evaluator.task_count(); ++task) {
          devices.push_back(candidate.tasks[static_cast<std::size_t>(task)].devices);
          times_s.push_back(evaluator.task_s(task));
          sum_s += times_s.back();
        }
        const double loss = prospects.loss(devices, times_s);
        EXPECT_LE(loss, score.loss * (1 + 1e-9));
        EXPECT_GT(loss, 0);
        apart += goal == Goal::time && loss < 0.9 * sum_s ? 1 : 0;
      }
    }
  }
  EXPECT_GT(apart, 10);  // tasks beside each other do count
}

// For a workflow with a custom graph only its longest task is known.
TEST(CostEstimate, OfACustomGraphAreItsLongestTask) {
  Workflow workflow = ppo_8b();
  workflow.algorithm = Algorithm::custom;
  const Known known(workflow);
  const std::vector<CostEstimate::Devices> devices(workflow.tasks.size(), kA100s);
  EXPECT_EQ(known.prospects.loss(devices, {1, 2, 7, 3, 4, 5}), 7);
}

TEST(Arranger, CostsNothingThatCannotBeBetter) {
  Known known;
  SearchRun& run = known.run;
  Arranger arranger(run);
  const std::vector<UnitClass> classes = unit_classes(known.cluster, 24);
  DeviceSets all{std::vector<int>(known.workflow.tasks.size(), 0), {}};
  for (const UnitClass& of_class : classes) all.regions.push_back({{1, of_class.count()}});
  // The first task on units of one class, the others on everything.
  const auto on = [&](std::size_t unit_class, int units) {
    DeviceSets sharing = all;
    sharing.set_of.front() = 1;
    sharing.regions[unit_class] = {{1, classes[unit_class].count() - units}, {3, units}};
    return sharing;
  };
  Scored best, other;
  ASSERT_TRUE(arranger.arrange(classes, all, best));
  ASSERT_TRUE(best.score.fits());
  // A task about which little is known is evaluated.
  EXPECT_TRUE(arranger.arrange(classes, on(2, 1), other, &best.score));
  EXPECT_GT(other.score.time_s, best.score.time_s);
  for (const std::size_t unit_class : {0U, 1U}) {
    for (int units = 1; units <= 8; ++units)
      ASSERT_TRUE(arranger.arrange(classes, on(unit_class, units), other));
  }
  const std::uint64_t asked = run.evaluator().asked();
  EXPECT_FALSE(arranger.arrange(classes, on(2, 2), other, &best.score));
  EXPECT_EQ(run.evaluator().asked(), asked);
  EXPECT_TRUE(arranger.arrange(classes, on(2, 2), other));
  EXPECT_GT(run.evaluator().asked(), asked);
  EXPECT_GT(other.score.time_s, best.score.time_s);
  // Better than that it may well be.
  EXPECT_TRUE(arranger.arrange(classes, on(2, 4), other, &other.score));
}

}  // namespace
}  // namespace sextant::test
