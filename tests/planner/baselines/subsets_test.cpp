#include "planner/baselines/subsets.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/request/subcluster.h"
#include "sextant/planners.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

std::vector<std::size_t> sizes_of(const std::vector<ClusterPart>& parts) {
  std::vector<std::size_t> sizes;
  for (const ClusterPart& part : parts) {
    std::size_t devices = 0;
    for (const auto& unit : part) devices += unit.size();
    sizes.push_back(devices);
  }
  return sizes;
}

std::set<DeviceId> devices_of(const Plan& plan) {
  std::set<DeviceId> devices;
  for (const auto& [name, task] : plan.tasks) devices.merge(task.devices());
  return devices;
}

// Two nodes of one type and four of another, each type in a region of its own: 1, 2, 4 devices of a node, 1, 2
// and 1, 2, 4 nodes. A type and its zone are one part.
TEST(ClusterPartsOf, AreTypesAndZonesByDoublings) {
  const Cluster cluster = cluster_of({{"a100", 2}, {"l40s", 4, 8, "z2", "r2"}});
  EXPECT_EQ(sizes_of(cluster_parts_of(cluster)),
            (std::vector<std::size_t>{1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32}));
  // One type in one zone: 1, 2, 4 of a node and 1, 2 of three nodes; all of them are no part.
  EXPECT_EQ(sizes_of(cluster_parts_of(cluster_of({{"a100", 3}}))), (std::vector<std::size_t>{1, 2, 4, 8, 16}));
  // Ten of 11 nodes are a part too, because their number is even.
  EXPECT_EQ(sizes_of(cluster_parts_of(cluster_of({{"a100", 11}}))),
            (std::vector<std::size_t>{1, 2, 4, 8, 16, 32, 64, 80}));
  // A type in two zones: its node in each zone, both, and the zones.
  EXPECT_EQ(sizes_of(cluster_parts_of(cluster_of({{"a100", 1, 1}, {"a100", 1, 1, "z2"}, {"l4", 1, 1, "z2"}}))),
            (std::vector<std::size_t>{1, 1, 1, 2, 2}));
}

// Parts of one and two nodes have four units, so that generation and training may have some each.
TEST(ClusterPartsOf, HaveSeveralUnits) {
  for (const ClusterPart& part : cluster_parts_of(cluster_of({{"a100", 2}, {"l40s", 4}}))) {
    std::size_t devices = 0;
    for (const auto& unit : part) devices += unit.size();
    if (devices >= 8) {
      EXPECT_EQ(part.size(), 4U) << devices;
    }
  }
}

// Gradients of 8B parameters over 0.25 GB/s take minutes: a search however short stays in one region.
TEST(Subsets, StayOnOneSideOfTheOcean) {
  const Cluster cluster = cluster_of({{"a100", 2}, {"l40s", 4, 8, "z2", "r2"}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.budget.evaluations = 2000;
  const PlanResult both = find_planner("portfolio")->plan(request);
  ASSERT_EQ(both.outcome, PlanOutcome::found) << both.message;
  const Subcluster near = without(cluster, devices_named(cluster, "r2"));
  PlanRequest alone{near.cluster, workflow, coefficients};
  alone.budget.evaluations = 2000;
  const PlanResult one = find_planner("verl-colocated")->plan(alone);
  ASSERT_EQ(one.outcome, PlanOutcome::found) << one.message;
  EXPECT_LE(both.prediction->iteration_s, one.prediction->iteration_s * (1 + 1e-9));
}

// Half of the devices are several times as slow as the others, so all of them with even shares are slower than the
// fast half alone.
TEST(Subsets, BeginWithTheTypeThatMayBeFasterAlone) {
  Workflow workflow = ppo_8b();
  for (auto& [name, model] : workflow.models) model.layers = 8;
  const Coefficients coefficients;
  const Cluster mixed = cluster_of({{"l4", 2}, {"a100", 2}}), few_fast = cluster_of({{"a100", 1}, {"l40s", 7}}),
                same = cluster_of({{"a100", 4}}), fast = cluster_of({{"a100", 2}});
  EXPECT_TRUE(is_type_first({mixed, workflow, coefficients}));
  EXPECT_FALSE(is_type_first({few_fast, workflow, coefficients}));
  EXPECT_FALSE(is_type_first({same, workflow, coefficients}));
  PlanRequest request{mixed, workflow, coefficients}, alone{fast, workflow, coefficients};
  request.budget.evaluations = 50;  // 30 for the parts
  alone.budget.evaluations = 30;
  const PlanResult whole = find_planner("portfolio")->plan(request);
  ASSERT_EQ(whole.outcome, PlanOutcome::found) << whole.message;
  const PlanResult part = find_planner("verl-colocated")->plan(alone);
  ASSERT_EQ(part.outcome, PlanOutcome::found) << part.message;
  EXPECT_LE(whole.prediction->iteration_s, 1.01 * part.prediction->iteration_s);
  // The first plan that was found is on the fast half, before any on all devices.
  request.budget.evaluations = 300;
  const PlanResult all = find_planner("verl-colocated")->plan(request);
  ASSERT_EQ(all.outcome, PlanOutcome::found) << all.message;
  EXPECT_LT(whole.improvements.front().iteration_s, all.prediction->iteration_s);
}

// Slow devices that cost nearly as much as fast ones are not worth renting.
TEST(Subsets, CheapPlansAreLookedForOnOneTypeFirst) {
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const auto priced = [](const Cluster& bare) {
    std::map<std::string, DeviceType> types = bare.device_types();
    for (auto& [name, type] : types)
      type.price_usd_per_hour = assumed(name.find("100") == std::string::npos ? 3.0 : 4.0);
    return Cluster(bare.name(), types, bare.nodes(), bare.levels(), bare.exceptions());
  };
  const Cluster mixed = priced(cluster_of({{"l4", 2}, {"a100", 2}})), fast = priced(cluster_of({{"a100", 2}}));
  PlanRequest request{mixed, workflow, coefficients}, alone{fast, workflow, coefficients};
  for (PlanRequest* one : {&request, &alone}) {
    one->objective.goal = Goal::cost;
    one->budget.evaluations = 300;
  }
  EXPECT_TRUE(is_type_first(request));
  EXPECT_FALSE(is_type_first(alone));
  const PlanResult whole = find_planner("portfolio")->plan(request),
                   part = find_planner("portfolio")->plan(alone);
  ASSERT_EQ(whole.outcome, PlanOutcome::found) << whole.message;
  ASSERT_EQ(part.outcome, PlanOutcome::found) << part.message;
  const auto usd = [](const PlanResult& result, const Cluster& cluster) {
    return usd_per_iteration(rented_by(*result.plan, cluster), result.prediction->iteration_s);
  };
  EXPECT_LE(usd(whole, mixed), 1.01 * usd(part, fast));
}

// Parts whose bound is above the best plan so far are not costed.
TEST(Subsets, LeaveOutPartsThatCannotBeFaster) {
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const Cluster cluster = cluster_of({{"a100", 4}, {"l40s", 4, 8, "z2", "r2"}});
  PlanRequest request{cluster, workflow, coefficients};
  PlanResult start = plan_by_subsets(request);
  ASSERT_EQ(start.outcome, PlanOutcome::found) << start.message;
  request.start = &start;
  const double found_s = start.prediction->iteration_s;
  start.prediction->iteration_s = 2 * found_s;
  EXPECT_DOUBLE_EQ(plan_by_subsets(request).prediction->iteration_s, found_s);
  start.prediction->iteration_s = 0.1 * found_s;
  EXPECT_EQ(plan_by_subsets(request).candidates, 0U);
}

// A node alone takes as long to within a twentieth: more than a node is never needed, even by a short search.
TEST(Subsets, LeaveDevicesThatAreNotNeeded) {
  const Cluster cluster = cluster_of({{"a100", 4}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const Cluster node = cluster_of({{"a100", 1}});
  PlanRequest alone{node, workflow, coefficients};
  alone.budget.evaluations = 2000;
  const PlanResult one = find_planner("verl-colocated")->plan(alone);
  ASSERT_EQ(one.outcome, PlanOutcome::found) << one.message;
  PlanRequest request{cluster, workflow, coefficients};
  request.budget.evaluations = 500;
  request.objective.goal = Goal::devices;
  request.objective.max_iteration_s = 1.05 * one.prediction->iteration_s;
  const PlanResult result = find_planner("portfolio")->plan(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_LE(devices_of(*result.plan).size(), 8U);
}

}  // namespace
}  // namespace sextant::test
