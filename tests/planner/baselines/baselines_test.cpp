// The places of tasks in the fixed placements, and the worth of searches without thought.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "planner/baselines/placements.h"
#include "planner/baselines/plain_ea.h"
#include "planner/baselines/random_candidates.h"
#include "planner/baselines/random_search.h"
#include "planner/baselines/streamrl.h"
#include "planner/baselines/sweep.h"
#include "planner/baselines/verl.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/neutral.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::set<DeviceId> devices_of(const PlanResult& result, const std::string& task) {
  return result.plan->tasks.at(task).devices();
}

bool share(const std::set<DeviceId>& a, const std::set<DeviceId>& b) {
  return std::any_of(a.begin(), a.end(), [&](DeviceId device) { return b.contains(device); });
}

TEST(VerlColocated, HasAllTasksOnAllDevices) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  const PlanResult result = plan_by_verl_colocated({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  for (const auto& [name, task] : result.plan->tasks) EXPECT_THAT(task.devices(), SizeIs(16)) << name;
}

// HybridFlow's search has both of verl's placements among its own.
TEST(VerlAuto, IsNoWorseThanOneSetOrTwo) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  const PlanRequest request{cluster, workflow, kNeutral};
  const PlanResult automatic = plan_by_verl_auto(request), together = plan_by_verl_colocated(request);
  ASSERT_EQ(automatic.outcome, PlanOutcome::found) << automatic.message;
  EXPECT_LE(automatic.prediction->iteration_s, together.prediction->iteration_s * (1 + 1e-9));
}

// Models that are colocated have one set of devices, others none in common.
TEST(VerlAuto, ModelsShareAllOfTheirDevicesOrNone) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}});
  const Workflow workflow = ppo_8b();
  const PlanResult result = plan_by_verl_auto({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  for (const Task& one : workflow.tasks) {
    for (const Task& other : workflow.tasks) {
      const auto devices = devices_of(result, one.name), others = devices_of(result, other.name);
      EXPECT_TRUE(devices == others || !share(devices, others)) << one.name << ", " << other.name;
      EXPECT_TRUE(one.model != other.model || devices == others) << one.name << ", " << other.name;
    }
  }
}

TEST(OpenRlhf, ActorCriticAndGenerationShareNothing) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  const PlanResult result = plan_by_openrlhf({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  const auto generation = devices_of(result, "actor_generation"), actor = devices_of(result, "actor_training"),
             critic = devices_of(result, "critic_training");
  EXPECT_FALSE(share(generation, actor) || share(generation, critic) || share(actor, critic));
  EXPECT_EQ(devices_of(result, "reference_inference"), actor);
}

// One placement, so few options that they can be tried in all combinations.
TEST(VerlColocated, TakesTheBestDegreesOfEveryTask) {
  const Cluster cluster("four", {{"gpu", device_type(100, 50)}}, {node("a", "gpu", 4)},
                        {{LinkLevel::within_node, link_rate(0.01, 1000)}});
  const Workflow workflow = small_workflow();
  PlanRequest request{cluster, workflow, kNeutral};
  request.limits.micro_batch_sequences = {1, 3};
  SearchRun run(request, 0);
  const std::vector<std::uint16_t> all = {0, 1, 2, 3};
  const std::vector<Option> generation = run.options().of(0, all), reference = run.options().of(1, all),
                            training = run.options().of(2, all);
  const auto at = [&](int task, const Option& option) {
    return placed(run.evaluator().shapes(task).at(option.shape), option.shape, option.order, all);
  };
  double best_s = 1e300;
  for (const Option& g : generation) {
    for (const Option& r : reference) {
      for (const Option& t : training)
        best_s = std::min(best_s, run.evaluator().evaluate({{at(0, g), at(1, r), at(2, t)}}).time_s);
    }
  }
  const PlanResult result = plan_by_verl_colocated(request);
  EXPECT_NEAR(result.prediction->iteration_s, best_s, 1e-9 * best_s);
}

// If memory is short, the fastest options do not fit together: no other option of one task is better.
TEST(VerlColocated, LeavesNoTaskABetterOption) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  const PlanRequest request{cluster, workflow, kNeutral};
  SearchRun run(request, 0);
  Sweep(run).look_at_one_set();
  ASSERT_NE(run.best(), nullptr);
  const Candidate best = *run.best();
  std::vector<std::uint16_t> all(16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const Score score = run.evaluator().evaluate(best);
  ASSERT_TRUE(score.fits());
  for (std::size_t t = 0; t < best.tasks.size(); ++t) {
    const int task = static_cast<int>(t);
    for (const Option& option : run.options().of(task, all)) {
      Candidate other = best;
      other.tasks[t] = placed(run.evaluator().shapes(task).at(option.shape), option.shape, option.order, all);
      const Score others = run.evaluator().evaluate(other);
      EXPECT_FALSE(others.fits() && others.time_s < score.time_s * (1 - 1e-9)) << workflow.tasks[t].name;
    }
  }
}

TEST(VerlSplit, SetsActorAndReferenceApartFromCriticAndReward) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  const PlanResult result = plan_by_verl_split({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  const std::set<DeviceId> actor = devices_of(result, "actor_training");
  const std::set<DeviceId> critic = devices_of(result, "critic_training");
  EXPECT_EQ(devices_of(result, "actor_generation"), actor);
  EXPECT_EQ(devices_of(result, "reference_inference"), actor);
  EXPECT_EQ(devices_of(result, "critic_inference"), critic);
  EXPECT_EQ(devices_of(result, "reward_inference"), critic);
  EXPECT_FALSE(share(actor, critic));
  EXPECT_EQ(actor.size() + critic.size(), 16U);
}

TEST(VerlSplit, HasNothingToSplitWithoutACritic) {
  const Cluster cluster = small_cluster();
  const Workflow workflow = small_workflow();
  const PlanRequest request{cluster, workflow, kNeutral};
  EXPECT_EQ(plan_by_verl_split(request).prediction->iteration_s,
            plan_by_verl_colocated(request).prediction->iteration_s);
}

// The actor's set is the larger one where the critic is small, whichever comes first in the cluster.
TEST(VerlSplit, SizesFollowTheWork) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  Workflow workflow = ppo_8b();
  for (const char* small : {"critic", "reward"}) workflow.models[small].layers = 2;
  const PlanResult result = plan_by_verl_split({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_GT(devices_of(result, "actor_training").size(), devices_of(result, "critic_training").size());
}

TEST(StreamRl, GeneratesOnDevicesOfItsOwn) {
  const Cluster cluster = cluster_of({{"a100", 3}});
  const Workflow workflow = ppo_8b(Mode::asynchronous);
  const PlanResult result = plan_by_streamrl({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  const std::set<DeviceId> generation = devices_of(result, "actor_generation");
  const std::set<DeviceId> rest = devices_of(result, "actor_training");
  EXPECT_FALSE(share(generation, rest));
  EXPECT_EQ(generation.size() + rest.size(), 24U);
  for (const char* task : {"critic_training", "critic_inference", "reward_inference", "reference_inference"})
    EXPECT_EQ(devices_of(result, task), rest) << task;
}

// A100: 2039 GB/s for 312 TFLOP/s, 6.5 bytes per 1000 FLOP; L40S: 864 for 362, 2.4.
TEST(StreamRl, GenerationGetsTheMostBandwidthPerFlop) {
  const Cluster cluster = cluster_of({{"l40s", 3}, {"a100", 1}});
  const Workflow workflow = ppo_8b(Mode::asynchronous);
  const PlanResult result = plan_by_streamrl({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  const auto a100s_of = [&](const std::string& task) {
    const std::set<DeviceId> devices = devices_of(result, task);
    return std::count_if(devices.begin(), devices.end(),
                         [&](DeviceId device) { return cluster.node_of(device).value == 3; });
  };
  const auto generating = static_cast<std::ptrdiff_t>(devices_of(result, "actor_generation").size());
  EXPECT_EQ(a100s_of("actor_generation"), std::min<std::ptrdiff_t>(generating, 8));
  EXPECT_EQ(a100s_of("actor_training"), 8 - a100s_of("actor_generation"));
}

// Before a search of many splits is over, it has looked at the one that people would try first: the cards with the
// most memory bandwidth for their arithmetic generate, the others train.
TEST(StreamRl, LooksAtTheBorderOfDeviceTypesFirst) {
  const Cluster cluster = cluster_of({{"l4", 6}, {"a100", 3}});
  const Workflow workflow = ppo_8b(Mode::one_step_off);
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 1;
  const PlanResult result = plan_by_streamrl(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  const auto types_of = [&](const std::string& task) {
    std::set<std::string> types;
    for (const DeviceId device : result.plan->tasks.at(task).devices()) types.insert(cluster.type_name(device));
    return types;
  };
  EXPECT_EQ(types_of("actor_generation").size(), 1U);
  EXPECT_EQ(types_of("actor_training").size(), 1U);
  EXPECT_NE(types_of("actor_generation"), types_of("actor_training"));
}

// StreamRL's rule lets the A100s generate. With many of them the slow cards should, and the A100s train.
TEST(Types, GenerateAndTrainEitherWayRound) {
  const Cluster cluster = cluster_of({{"a100", 4}, {"l40s", 2}});
  const Workflow workflow = ppo_8b(Mode::one_step_off);
  const PlanRequest request{cluster, workflow, kNeutral};
  const PlanResult result = plan_by_types(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_EQ(devices_of(result, "actor_generation").size() + devices_of(result, "actor_training").size(), 48U);
  for (const bool a100s_generate : {true, false}) {
    std::set<DeviceId> generating;
    for (int device = a100s_generate ? 0 : 32; device < (a100s_generate ? 32 : 48); ++device)
      generating.insert(DeviceId{device});
    PlanRequest one_way{cluster, workflow, kNeutral};
    one_way.limits.pins["actor_generation"] = pin_to(generating);
    const PlanResult known = plan_by_streamrl(one_way);
    ASSERT_EQ(known.outcome, PlanOutcome::found) << known.message;
    EXPECT_LE(result.prediction->iteration_s, known.prediction->iteration_s * (1 + 1e-9));
    EXPECT_EQ(plan_by_types(one_way).outcome, PlanOutcome::infeasible);
  }
  const Cluster alike = cluster_of({{"a100", 2}});
  EXPECT_EQ(plan_by_types({alike, workflow, kNeutral}).outcome, PlanOutcome::infeasible);
}

TEST(StreamRl, NeedsTwoGroups) {
  const Cluster cluster = cluster_of({{"a100", 1, 1}});
  const Workflow workflow = ppo_8b();
  const PlanResult result = plan_by_streamrl({cluster, workflow, kNeutral});
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_NE(result.message.find("one device"), std::string::npos) << result.message;
}

TEST(TwoGroups, AreOneWhereAllTasksAreAlike) {
  const Workflow workflow = small_workflow();
  EXPECT_EQ(two_groups(workflow, [](const Task&) { return true; }), (TaskGrouping{{0, 0, 0}, 1}));
  EXPECT_EQ(two_groups(workflow, [](const Task&) { return false; }), (TaskGrouping{{0, 0, 0}, 1}));
  EXPECT_EQ(two_groups(workflow, [](const Task& task) { return task.kind == TaskKind::inference; }),
            (TaskGrouping{{1, 0, 1}, 2}));
}

// Every device once per task, and over many draws every number of devices and both ways to choose them.
TEST(RandomCandidates, AreWholeAndVaried) {
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  const PlanRequest request{cluster, workflow, kNeutral};
  SearchRun run(request, 0);
  RandomCandidates candidates(run);
  std::mt19937_64 random(1);
  std::set<std::size_t> sizes;
  int side_by_side = 0;
  constexpr int kDraws = 1000;
  for (int i = 0; i < kDraws; ++i) {
    const Placement placement = candidates.placement(0, random);
    const std::set<std::uint16_t> distinct(placement.devices.begin(), placement.devices.end());
    EXPECT_EQ(distinct.size(), placement.devices.size());
    EXPECT_LT(*distinct.rbegin(), 8);
    EXPECT_EQ(run.evaluator().shapes(0).at(placement.shape).devices(), static_cast<int>(distinct.size()));
    sizes.insert(distinct.size());
    const std::vector<std::uint16_t>& devices = placement.devices;
    side_by_side +=
        std::adjacent_find(devices.begin(), devices.end(),
                           [](std::uint16_t a, std::uint16_t b) { return b != a + 1; }) == devices.end()
            ? 1
            : 0;
  }
  EXPECT_THAT(sizes, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_GT(side_by_side, kDraws / 2 - 100);
  EXPECT_LT(side_by_side, kDraws - 100);
}

// Selection and crossover find more than as many draws do.
TEST(PlainEa, IsBetterThanRandomPlans) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 10'000;
  for (request.seed = 1; request.seed <= 3; ++request.seed) {
    const PlanResult evolved = plan_by_plain_ea(request), drawn = plan_by_random(request);
    ASSERT_EQ(drawn.outcome, PlanOutcome::found) << drawn.message;
    EXPECT_LT(evolved.prediction->iteration_s, drawn.prediction->iteration_s);
  }
}

}  // namespace
}  // namespace sextant::test
