// Links with a capacity: what groups, replicas and copies of weights that cross them together get of it.
#include "costmodel/terms/shared_links.h"

#include <gtest/gtest.h>

#include <numeric>

#include "costmodel/task.h"
#include "costmodel/terms/weight_sync.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// Two zones of two nodes of two devices: 0 to 3 and 4 to 7. 5 s + n / 10 between any two nodes; what crosses
// between the zones shares `capacity`.
Cluster two_zones(std::optional<double> capacity, double zone_rate = 10) {
  std::vector<Node> nodes;
  for (int i = 0; i < 4; ++i) {
    nodes.push_back(node("n" + std::to_string(i), "fast", 2));
    nodes.back().zone = i < 2 ? "z0" : "z1";
  }
  LinkRate trunk = link_rate(5, zone_rate);
  if (capacity) trunk.capacity_bytes_per_s = assumed(*capacity);
  return Cluster("two zones", {{"fast", device_type(100, 50)}}, nodes,
                 {{LinkLevel::within_node, link_rate(1, 100)},
                  {LinkLevel::within_zone, link_rate(5, 10)},
                  {LinkLevel::within_region, trunk}});
}

TermCase case_of(const char* task, const TaskPlan& plan, std::optional<double> capacity) {
  return TermCase(task, plan, small_workflow(), two_zones(capacity));
}

double reduction_s(const TermCase& training) {
  return terms::ring_step_s(training.problem(), training.task.gradient_groups.front(), 100, 1.0);
}

TEST(SharedLinks, GroupsThatCrossATrunkShareIt) {
  // Two shards, each in both zones.
  const TaskPlan wide = plan_of({{stage(3, {0, 1})}, {stage(3, {4, 5})}});
  EXPECT_DOUBLE_EQ(reduction_s(case_of(kTraining, wide, std::nullopt)), 5 + 100 / 10.0);
  EXPECT_DOUBLE_EQ(reduction_s(case_of(kTraining, wide, 10)), 5 + 100 / 5.0);
  EXPECT_DOUBLE_EQ(reduction_s(case_of(kTraining, wide, 20)), 5 + 100 / 10.0) << "room for both";
  // Two stages of two shards: all four cross at once.
  const TaskPlan deep = plan_of({{stage(2, {0, 1}), stage(1, {2, 3})}, {stage(2, {4, 5}), stage(1, {6, 7})}});
  EXPECT_DOUBLE_EQ(reduction_s(case_of(kTraining, deep, 10)), 5 + 100 / 2.5);
  // One shard that never leaves its zone.
  const TaskPlan near = plan_of({{stage(3, {0})}, {stage(3, {2})}});
  EXPECT_DOUBLE_EQ(reduction_s(case_of(kTraining, near, 1)), 5 + 100 / 10.0);
}

// 2 bytes * 3 sequences * 8 tokens * 4 = 192 in each of 2 micro-batches, of two replicas.
TEST(SharedLinks, PipelinesTakeNoLessThanWhatTheySendOverATrunk) {
  const TaskPlan plan = plan_of({{stage(2, {0}), stage(1, {4})}, {stage(2, {1}), stage(1, {5})}});
  const auto cost = [&](const char* task, std::optional<double> capacity) {
    const TermCase one = case_of(task, plan, capacity);
    return task_cost(one.problem(), one.task);
  };
  const double alone_s = cost(kInference, std::nullopt).time_s;
  EXPECT_DOUBLE_EQ(cost(kInference, std::nullopt).term(Term::pipeline_parallel), 2 * (5 + 192 / 10.0));
  EXPECT_DOUBLE_EQ(cost(kInference, 20).time_s, alone_s) << "both at the link's rate";
  const double slow = 768 / alone_s / 2;  // bytes/s: twice as long as on their own
  const TaskCost<double> shared = cost(kInference, slow);
  EXPECT_DOUBLE_EQ(shared.time_s, 2 * alone_s);
  double sum = 0;
  for (const double term : shared.terms_s) sum += term;
  EXPECT_NEAR(sum, shared.time_s, 1e-9);
  // There and back, beside gradients and the optimizer.
  const TaskCost<double> training = cost(kTraining, 1e-3);
  EXPECT_DOUBLE_EQ(training.time_s - training.term(Term::data_parallel) - training.term(Term::optimizer),
                   2 * 768 / 1e-3);
}

// Two context-parallel parts of a stage send half of each micro-batch, so both together send what one did.
TEST(SharedLinks, ContextParallelPartsSendAllOfAMicroBatch) {
  TaskPlan whole = plan_of({{stage(2, {0}), stage(1, {4})}});
  TaskPlan parts = plan_of({{stage(2, {0, 1}), stage(1, {4, 5})}});
  parts.execution.context_parallel = 2;
  const TermCase one = case_of(kInference, whole, 1), two = case_of(kInference, parts, 1);
  const auto of_one = terms::trunk_loads(one.problem(), one.task, 0);
  const auto of_two = terms::trunk_loads(two.problem(), two.task, 0);
  ASSERT_EQ(of_one.size(), 1U);
  ASSERT_EQ(of_two.size(), 1U);
  EXPECT_DOUBLE_EQ(of_one.begin()->second, of_two.begin()->second);
  EXPECT_DOUBLE_EQ(of_one.begin()->second, 4 * 192.0);
}

// Its neighbours' transfers are nothing to a replica that stays in its zone.
TEST(SharedLinks, AReplicaThatDoesNotCrossATrunkDoesNotWait) {
  const TaskPlan plan =
      plan_of({{stage(2, {0}), stage(1, {4})}, {stage(2, {1}), stage(1, {5})}, {stage(3, {2})}});
  const TermCase one = case_of(kInference, plan, 1e-3);
  EXPECT_TRUE(terms::trunk_loads(one.problem(), one.task, 2).empty());
  EXPECT_NE(task_cost(one.problem(), one.task).critical_replica, 2);
}

TEST(SharedLinks, TensorParallelGroupsThatCrossATrunkWaitForEachOther) {
  const TermCase one = case_of(kInference, plan_of({{stage(3, {0, 4})}, {stage(3, {1, 5})}}), 1e-3);
  const StageOfTask<double> stage = one.at();
  const double count = terms::tensor_parallel_count(stage), bytes = terms::tensor_parallel_volume_bytes(stage);
  // One ring's own time at that rate is less than what both send.
  EXPECT_DOUBLE_EQ(task_cost(one.problem(), one.task).time_s, 2 * count * bytes / 1e-3);
}

TEST(SharedLinks, CopiesOfWeightsShareATrunk) {
  // One trainer, and three engines of one device in the other zone.
  Workflow workflow = small_workflow();
  Plan plan = same_everywhere(plan_of({{stage(3, {0})}}));
  plan.tasks.at(kGeneration) = plan_of({{stage(3, {4})}, {stage(3, {5})}, {stage(3, {6})}});
  const auto sync_s = [&](WeightSyncMethod method, std::optional<double> capacity, double rate) {
    plan.weight_sync.method = method;
    const Case<> whole(two_zones(capacity, rate), workflow, plan);
    const TaskWork training = whole.work(kTraining), generation = whole.work(kGeneration);
    return terms::synchronize_s(whole.problem, training, generation);
  };
  const double bytes = 2 * 480;
  // The trainer's own sending is the limit already; with a trunk of half the rate the trunk is.
  EXPECT_DOUBLE_EQ(sync_s(WeightSyncMethod::flat, std::nullopt, 10), 5 + 3 * bytes / 10);
  EXPECT_DOUBLE_EQ(sync_s(WeightSyncMethod::flat, 5, 10), 5 + 3 * bytes / 5);
  EXPECT_DOUBLE_EQ(sync_s(WeightSyncMethod::per_replica, std::nullopt, 10), 5 + bytes / 10);
  EXPECT_DOUBLE_EQ(sync_s(WeightSyncMethod::per_replica, 10, 10), 3 * bytes / 10);
  // One ring around all crosses once.
  EXPECT_DOUBLE_EQ(sync_s(WeightSyncMethod::broadcast, 10, 10), 5 + bytes / 10);
  EXPECT_DOUBLE_EQ(sync_s(WeightSyncMethod::broadcast, 5, 10), 5 + bytes / 5);
}

// A fit to clusters with understated networks gives links 1.25 times their rate. No trunk carries more than its
// capacity: one ring of 5 B/s and 3 copies of 5 B/s each take bytes / 5 and 3 bytes / 5.
TEST(SharedLinks, NoFitGivesATrunkMoreThanItsCapacity) {
  Workflow workflow = small_workflow();
  Plan plan = same_everywhere(plan_of({{stage(3, {0})}}));
  plan.tasks.at(kGeneration) = plan_of({{stage(3, {4})}, {stage(3, {5})}, {stage(3, {6})}});
  const auto sync_s = [&](WeightSyncMethod method, double efficiency) {
    plan.weight_sync.method = method;
    Case<> whole(two_zones(5, 5), workflow, plan);
    whole.set(network_efficiency, efficiency);
    return terms::synchronize_s(whole.problem, whole.work(kTraining), whole.work(kGeneration));
  };
  for (const auto method :
       {WeightSyncMethod::broadcast, WeightSyncMethod::per_replica, WeightSyncMethod::flat}) {
    EXPECT_DOUBLE_EQ(sync_s(method, 1.25), sync_s(method, 1)) << static_cast<int>(method);
    EXPECT_GT(sync_s(method, 0.8), sync_s(method, 1)) << static_cast<int>(method);
  }
}

// Software handles half of the time of a byte on the zone's links of 10 B/s: 0.1 s a byte beside the link's 0.1
// s. Over slower links and trunks it stays 0.1 s a byte.
TEST(SharedLinks, SoftwareTakesNoLongerOverASlowLink) {
  Workflow workflow = small_workflow();
  Plan plan = same_everywhere(plan_of({{stage(3, {0})}}));
  const auto sync_s = [&](int engine, WeightSyncMethod method, std::optional<double> capacity, double rate) {
    plan.tasks.at(kGeneration) = plan_of({{stage(3, {engine})}});
    plan.weight_sync.method = method;
    Case<> whole(two_zones(capacity, rate), workflow, plan);
    whole.set(weight_sync_efficiency, 0.5);
    const TaskWork training = whole.work(kTraining), generation = whole.work(kGeneration);
    return terms::synchronize_s(whole.problem, training, generation);
  };
  const double bytes = 2 * 480;
  for (const auto method :
       {WeightSyncMethod::broadcast, WeightSyncMethod::flat, WeightSyncMethod::per_replica}) {
    EXPECT_DOUBLE_EQ(sync_s(2, method, std::nullopt, 10), 5 + bytes * (0.1 + 0.1)) << "inside the zone";
    EXPECT_DOUBLE_EQ(sync_s(4, method, std::nullopt, 10), 5 + bytes * (0.1 + 0.1));
    EXPECT_DOUBLE_EQ(sync_s(4, method, std::nullopt, 1), 5 + bytes * (1.0 + 0.1));
    EXPECT_DOUBLE_EQ(sync_s(4, method, 1, 10), 5 + bytes * (1.0 + 0.1)) << "a trunk of 1 B/s";
    EXPECT_GE(sync_s(4, method, 1, 10), bytes / 1.0) << "never faster than the trunk";
  }
}

// 16.4 GB between zones over 1 GB/s with an efficiency of 0.104 on 50 GB/s inside a zone: 16.4 s on the link and
// 16.4 (1 / 0.104 - 1) / 50 = 2.83 s of software. Neither PCIe of 32 GB/s inside the nodes nor NVLink of 900 GB/s
// inside the zone changes that.
TEST(SharedLinks, SoftwareTakesItsTimeOfAnAdapterWhateverIsInsideNodesAndRacks) {
  Workflow workflow = small_workflow();
  Plan plan = same_everywhere(plan_of({{stage(3, {0})}}));
  plan.tasks.at(kGeneration) = plan_of({{stage(3, {2})}});
  plan.weight_sync.method = WeightSyncMethod::broadcast;
  const auto sync_s = [&](double inside, double zone, double far) {
    std::vector<Node> nodes{node("trainer", "fast", 2), node("engine", "fast", 2)};
    nodes[1].zone = "far";
    for (Node& one : nodes) one.link = link_rate(0, inside);
    LinkRate between = link_rate(0, far);
    between.capacity_bytes_per_s = assumed(far);
    Case<> whole(Cluster("two", {{"fast", device_type(1e14, 1e12, 1e12)}}, nodes,
                         {{LinkLevel::within_zone, link_rate(0, zone)}, {LinkLevel::within_region, between}}),
                 workflow, plan);
    whole.set(weight_sync_efficiency, 0.104);
    return terms::synchronize_s(whole.problem, whole.work(kTraining), whole.work(kGeneration));
  };
  const double bytes = 2 * 480, s_per_gb = (16.4 + 16.4 * (1 / 0.104 - 1) / 50) / 16.4;
  EXPECT_NEAR(sync_s(450e9, 50e9, 1e9), bytes / 1e9 * s_per_gb, 1e-15);
  EXPECT_NEAR(sync_s(32e9, 50e9, 1e9), bytes / 1e9 * s_per_gb, 1e-15);
  EXPECT_NEAR(sync_s(900e9, 900e9, 1e9), bytes / 1e9 * s_per_gb, 1e-15);
  // From rack to rack over the adapter itself, as measured: the efficiency alone.
  EXPECT_NEAR(sync_s(900e9, 900e9, 50e9), bytes / (0.104 * 50e9), 1e-15);
}

// WEAVE's Figure 13: one copy of the weights over the connection of 20 Gbit/s between both clusters, then
// around the NVLinks of one node, is 7.87 to 8.33 times as fast as a copy for each of eight H20.
TEST(SharedLinks, OneCopyOverATrunkIsAsMuchFasterAsWeaveMeasured) {
  std::vector<Node> nodes{node("h800", "fast", 8), node("h20", "fast", 8)};
  nodes[1].zone = "rollout";
  LinkRate trunk = link_rate(1e-3, 2.5e9);
  trunk.capacity_bytes_per_s = assumed(2.5e9);
  Workflow workflow = small_workflow();
  for (auto& [role, model] : workflow.models)
    model.hidden = 4096, model.intermediate = 22016, model.layers = 48;
  const auto around = [](int first, std::size_t tensor_parallel) {
    std::vector<std::vector<Stage>> replicas;
    for (int d = first; d < first + 8; d += static_cast<int>(tensor_parallel)) {
      std::vector<int> devices(tensor_parallel);
      std::iota(devices.begin(), devices.end(), d);
      replicas.push_back({stage(48, devices)});
    }
    return plan_of(replicas);
  };
  Plan plan = same_everywhere(around(0, 4));
  plan.tasks.at(kGeneration) = around(8, 4);
  const auto sync_s = [&](WeightSyncMethod method) {
    plan.weight_sync.method = method;
    const Case<> whole(
        Cluster("weave", {{"fast", device_type(1e14, 1e12, 1e12)}}, nodes,
                {{LinkLevel::within_node, link_rate(1e-5, 2e11)}, {LinkLevel::within_region, trunk}}),
        workflow, plan);
    const TaskWork training = whole.work(kTraining), generation = whole.work(kGeneration);
    return terms::synchronize_s(whole.problem, training, generation);
  };
  const double faster = sync_s(WeightSyncMethod::flat) / sync_s(WeightSyncMethod::topology_aware);
  EXPECT_GT(faster, 7.87 * 0.9);
  EXPECT_LT(faster, 8.33 * 1.1);
}

// HetRL's Virginia and Ohio: 16.4 GB of gradients over one connection of 0.61 GB/s take 26.9 s, however they
// are cut. Eight devices on either side once had eight such connections.
TEST(SharedLinks, GradientsOfAllShardsCrossOneConnection) {
  std::vector<Node> nodes{node("virginia", "fast", 8), node("ohio", "fast", 8)};
  nodes[1].zone = nodes[1].region = "ohio";
  LinkRate between = link_rate(0.01, 0.61e9);
  between.capacity_bytes_per_s = assumed(0.61e9);
  const Cluster cluster(
      "two regions", {{"fast", device_type(1e14, 1e12)}}, nodes,
      {{LinkLevel::within_node, link_rate(1e-5, 3e11)}, {LinkLevel::between_regions, between}});
  const double gradients = 16.4e9;
  const auto reduce_s = [&](const TaskPlan& plan, double shards) {
    TermCase training(kTraining, plan, small_workflow(), cluster);
    training.set(rail_weight, 1);
    const GradientGroup& group = training.task.gradient_groups.front();
    const double n = static_cast<double>(group.members.size());
    return terms::ring_step_s(training.problem(), group, gradients / shards * 2 * (n - 1) / n, 1.0);
  };
  const auto on = [](std::vector<int> devices) { return std::vector<Stage>{stage(3, std::move(devices))}; };
  EXPECT_NEAR(reduce_s(plan_of({on({0, 1, 2, 3, 4, 5, 6, 7}), on({8, 9, 10, 11, 12, 13, 14, 15})}), 8),
              gradients / 0.61e9, 0.1);
  std::vector<std::vector<Stage>> replicas;
  for (int d = 0; d < 12; ++d) replicas.push_back(on({d < 6 ? d : d + 2}));  // six of each
  EXPECT_NEAR(reduce_s(plan_of(replicas), 1), gradients / 0.61e9, 0.1);
}

}  // namespace
}  // namespace sextant::test
