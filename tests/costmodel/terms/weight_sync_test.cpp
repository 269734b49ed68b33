// Ways for trained weights to reach generation on devices of its own: terms/weight_sync.h.
#include "costmodel/terms/weight_sync.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/model.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// Trains on node n0, generates on node n1: 960 bytes of weights, 10 B/s a link between.
struct Pools {
  Case<> whole;
  TaskWork training, generation;

  explicit Pools(WeightSyncMethod method, double fraction = 1, std::optional<double> network = std::nullopt,
                 const TaskPlan& trains = plan_of({{stage(3, {0, 1})}}))
      : whole(row_of_nodes(2, 2, network), small_workflow(), plan(method, fraction, trains)),
        training(whole.work(kTraining)),
        generation(whole.work(kGeneration)) {}

  static Plan plan(WeightSyncMethod method, double fraction, const TaskPlan& trains) {
    const TaskPlan generates = plan_of({{stage(3, {2, 3})}});
    Plan plan = plan_with(generates, trains, trains);
    plan.weight_sync = {method, fraction};
    return plan;
  }
  [[nodiscard]] double sync_s() const { return terms::weight_sync_s(whole.problem, training, generation); }
};

TEST(WeightSync, PerReplica) {
  // All-gather 480 over a-a, broadcast 480 over b-b, 960 across on the fastest link.
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::per_replica).sync_s(), (1 + 4.8) + (1 + 4.8) + (5 + 96));
}

TEST(WeightSync, ShortestIsTheLeastOfWhatFrameworksHave) {
  for (const std::optional<double> network : {std::optional<double>(), std::optional<double>(6.0)}) {
    const auto sync_s = [&](WeightSyncMethod method) { return Pools(method, 1, network).sync_s(); };
    const double minimum = std::min({sync_s(WeightSyncMethod::flat), sync_s(WeightSyncMethod::topology_aware),
                                     sync_s(WeightSyncMethod::broadcast), sync_s(WeightSyncMethod::sharded)});
    EXPECT_DOUBLE_EQ(sync_s(WeightSyncMethod::shortest), minimum);
  }
}

constexpr WeightSyncMethod kMethods[] = {WeightSyncMethod::shortest,       WeightSyncMethod::flat,
                                         WeightSyncMethod::topology_aware, WeightSyncMethod::broadcast,
                                         WeightSyncMethod::sharded,        WeightSyncMethod::per_replica};

// Trains on node n0; generates with one replica on n1 beside it and one on n2 in another region, to which links
// have `far` bytes/s.
double far_and_near_s(WeightSyncMethod method, double far) {
  std::vector<Node> nodes = row_of_nodes(3, 2).nodes();
  nodes[2].zone = "z2";
  nodes[2].region = "r2";
  const Cluster cluster("apart", {{"fast", device_type(100, 50)}}, nodes,
                        {{LinkLevel::within_node, link_rate(1, 100)},
                         {LinkLevel::within_zone, link_rate(5, 10)},
                         {LinkLevel::within_region, link_rate(5, 10)},
                         {LinkLevel::between_regions, link_rate(7, far)}});
  const TaskPlan trains = plan_of({{stage(3, {0, 1})}});
  Plan plan = plan_with(plan_of({{stage(3, {2, 3})}, {stage(3, {4, 5})}}), trains, trains);
  plan.weight_sync.method = method;
  const Case<> whole(cluster, small_workflow(), plan);
  return terms::weight_sync_s(whole.problem, whole.work(kTraining), whole.work(kGeneration));
}

// Weights once reached all replicas for the price of the nearest: from 4 H800 to 12 beside them and 16 H20
// behind a slow link they took the same time at any rate of that link.
TEST(WeightSync, ReachesTheReplicaBehindTheSlowLink) {
  // A whole copy of 960 bytes for each replica, which takes longest to the far one.
  EXPECT_DOUBLE_EQ(far_and_near_s(WeightSyncMethod::per_replica, 0.5), (1 + 4.8) + (1 + 4.8) + (7 + 960 / 0.5));
  // Each device fetches half of them over a link of its own; two trainers send two such halves near and two
  // far, one after the other.
  EXPECT_DOUBLE_EQ(far_and_near_s(WeightSyncMethod::sharded, 0.5), 7 + 480 * (2 / 10.0 + 2 / 0.5) / 2);
  EXPECT_DOUBLE_EQ(far_and_near_s(WeightSyncMethod::flat, 0.5), 7 + 960 * (2 / 10.0 + 2 / 0.5) / 2);
  // A quarter for each device, then around all four, over the slow link.
  EXPECT_DOUBLE_EQ(far_and_near_s(WeightSyncMethod::topology_aware, 0.5),
                   (7 + 240 * (2 / 10.0 + 2 / 0.5) / 2) + (7 + 720 / 0.5));
  EXPECT_DOUBLE_EQ(far_and_near_s(WeightSyncMethod::broadcast, 0.5), 7 + 960 / 0.5);
  for (const WeightSyncMethod method : kMethods) {
    // At least half a copy over each of two links.
    for (const double far : {5.0, 0.5, 0.01}) EXPECT_GE(far_and_near_s(method, far), 480 / far);
  }
}

// Pools that had their first device in common paid nothing (F1b).
TEST(WeightSync, PoolsThatShareADevicePayForTheOthers) {
  const TaskPlan trains = plan_of({{stage(3, {0, 1})}});
  for (const WeightSyncMethod method : kMethods) {
    Plan plan = plan_with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), trains, trains);
    plan.weight_sync.method = method;
    const Case<> whole(row_of_nodes(2, 2), small_workflow(), plan);
    // At least the all-gather of the trainers and half a copy over each of two links, side by side.
    EXPECT_GE(terms::weight_sync_s(whole.problem, whole.work(kTraining), whole.work(kGeneration)), 5 + 24.0);
  }
  Plan plan = plan_with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), trains, trains);
  plan.weight_sync.method = WeightSyncMethod::sharded;
  const Case<> whole(row_of_nodes(2, 2), small_workflow(), plan);
  EXPECT_DOUBLE_EQ(terms::weight_sync_s(whole.problem, whole.work(kTraining), whole.work(kGeneration)),
                   5 + 480 / 10.0);
}

TEST(WeightSync, FlatSendsACopyToEveryDevice) {
  // Two copies over two links at once.
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::flat).sync_s(), 5 + 2 * 960 / 20.0);
}

TEST(WeightSync, TopologyAwareSendsOneAndBroadcasts) {
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::topology_aware).sync_s(), (5 + 960 / 20.0) + (1 + 4.8));
}

TEST(WeightSync, BroadcastPassesEveryDeviceOnAllRails) {
  // All 960 from node to node, on one of its two links or both.
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::broadcast).sync_s(), 5 + 960 / 10.0);
  Pools railed(WeightSyncMethod::broadcast);
  railed.whole.set(rail_weight, 1);
  EXPECT_DOUBLE_EQ(railed.sync_s(), 5 + 960 / 20.0);
  Pools narrow(WeightSyncMethod::broadcast, 0.5, 15);
  narrow.whole.set(rail_weight, 1);
  narrow.whole.set(weight_sync_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(narrow.sync_s(), 5 + 480 / 7.5);
  // Gathered over a-a beside it.
  narrow.whole.set(reshard_efficiency, 0.01);
  EXPECT_DOUBLE_EQ(narrow.sync_s(), 1 + 240 / 1.0);
}

TEST(WeightSync, ShardsGoStraightToTheirReplica) {
  // One copy over two links; two where each of the devices of generation is a replica.
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::sharded).sync_s(), 5 + 960 / 20.0);
  const TaskPlan alone = plan_of({{stage(3, {2})}, {stage(3, {3})}}), trains = plan_of({{stage(3, {0, 1})}});
  Plan plan = plan_with(alone, trains, trains);
  plan.weight_sync.method = WeightSyncMethod::sharded;
  const Case<> two(row_of_nodes(2, 2), small_workflow(), plan);
  EXPECT_DOUBLE_EQ(terms::weight_sync_s(two.problem, two.work(kTraining), two.work(kGeneration)),
                   5 + 2 * 960 / 20.0);
}

TEST(WeightSync, ExpertsAreGatheredFromTheirRanks) {
  // Two replicas of a device each deal four experts: 60 parameters an expert, 720 of all in three layers.
  Execution dealt;
  dealt.expert_parallel = 2;
  dealt.expert_tensor_parallel = 1;
  const Workflow mixture = with_model(small_mixture());
  const double all = 2 * mixture.models.at("actor").parameters(), experts = 2 * 3 * 4 * 60;
  const TaskPlan alone = plan_of({{stage(3, {0})}, {stage(3, {1})}});
  const auto reshard_s = [&](const TaskPlan& trains) {
    const Case<> whole(row_of_nodes(1, 2), mixture, plan_with(trains, trains, trains));
    return terms::reshard_s(whole.problem, whole.work(kTraining));
  };
  EXPECT_DOUBLE_EQ(reshard_s(alone), 0);  // a replica on one device has everything
  EXPECT_DOUBLE_EQ(reshard_s(with(alone, dealt)), 1 + experts / 2 / 100.0);
  // Tensor parallelism inside gathers all of it.
  EXPECT_DOUBLE_EQ(reshard_s(plan_of({{stage(3, {0, 1})}})), 1 + all / 2 / 100.0);
}

TEST(WeightSync, TheNetworkOfANodeIsTheLimit) {
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::flat, 1, 15).sync_s(), 5 + 2 * 960 / 15.0);
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::topology_aware, 1, 15).sync_s(), (5 + 960 / 15.0) + (1 + 4.8));
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::flat, 1, 25).sync_s(), 5 + 2 * 960 / 20.0);
}

TEST(WeightSync, OnlyTheFractionThatIsSent) {
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::flat, 0.25).sync_s(), 5 + 2 * 240 / 20.0);
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::topology_aware, 0.25).sync_s(), (5 + 12.0) + (1 + 1.2));
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::per_replica, 0.25).sync_s(), (1 + 1.2) + (1 + 1.2) + (5 + 24));
}

TEST(WeightSync, EfficiencyAndLatency) {
  Pools flat(WeightSyncMethod::flat);
  flat.whole.set(weight_sync_efficiency, 0.5);
  flat.whole.set(link_latency_scale, 3);
  EXPECT_DOUBLE_EQ(flat.sync_s(), 3 * 5 + 2 * 960 / 10.0);
}

TEST(WeightSync, GatheringAndBroadcastingHaveAnEfficiencyOfTheirOwn) {
  Pools apart(WeightSyncMethod::per_replica);
  apart.whole.set(reshard_efficiency, 0.5);  // of the two rings, not of the way between
  EXPECT_DOUBLE_EQ(apart.sync_s(), (1 + 9.6) + (1 + 9.6) + (5 + 96));
  apart.whole.set(weight_sync_efficiency, 0.25);
  EXPECT_DOUBLE_EQ(apart.sync_s(), (1 + 9.6) + (1 + 9.6) + (5 + 4 * 96));
  // Resharding: 640 bytes, every ring of three crosses a-b at 10 B/s. That is slower than any network that was measured, so
  // that software takes the time for a byte that it takes at 25 GB/s.
  Case<> colocated(small_cluster(), small_workflow(), same_everywhere(uneven_pipeline()));
  colocated.set(reshard_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::reshard_s(colocated.problem, colocated.work(kTraining)), 5 + 640 / 10.0 + 640 / 25e9);
}

TEST(WeightSync, FixedTimesOfEachAndOfEveryTensor) {
  Pools flat(WeightSyncMethod::flat);
  const double moved = flat.sync_s();
  flat.whole.set(weight_sync_overhead_s, 7);
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved + 7);
  flat.whole.set(weight_sync_tensor_overhead_s, 0.5);
  // 3 layers of 4 projections, 2 norms and 3 matrices; embedding, last norm and head.
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved + 7 + 0.5 * (3 * 9 + 3));
}

TEST(WeightSync, PackedTensorsCostAMessageABucketAndAPartOfOneEach) {
  Pools flat(WeightSyncMethod::flat);
  const double moved = flat.sync_s();
  flat.whole.set(weight_sync_tensor_overhead_s, 0.5);
  flat.whole.set(weight_sync_packed_weight, 0.1);
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved + 0.5 * 30) << "one by one, a packed tensor's part does not matter";
  // 960 bytes in four buckets of 300, and 30 tensors.
  Plan packed = Pools::plan(WeightSyncMethod::flat, 1, plan_of({{stage(3, {0, 1})}}));
  packed.weight_sync.bucket_bytes = 300;
  const auto packed_s = [&] {
    Case<> whole(row_of_nodes(2, 2), small_workflow(), packed);
    whole.set(weight_sync_tensor_overhead_s, 0.5);
    whole.set(weight_sync_packed_weight, 0.1);
    return terms::weight_sync_s(whole.problem, whole.work(kTraining), whole.work(kGeneration));
  };
  EXPECT_DOUBLE_EQ(packed_s(), moved + 0.5 * (4 + 0.1 * 30));
  packed.weight_sync.bucket_bytes = 1e9;
  EXPECT_DOUBLE_EQ(packed_s(), moved + 0.5 * (1 + 0.1 * 30));
  packed.weight_sync.bucket_bytes = 1;  // a bucket holds a tensor at least
  EXPECT_DOUBLE_EQ(packed_s(), moved + 0.5 * (30 + 0.1 * 30));
  packed.weight_sync = {WeightSyncMethod::flat, 0.5, 300};  // 480 bytes are sent
  EXPECT_NEAR(packed_s(), 5 + (moved - 5) / 2 + 0.5 * (2 + 0.1 * 30), 1e-12);
}

TEST(WeightSync, OnlyEnginesOnTheTrainersDevicesAreWoken) {
  Pools flat(WeightSyncMethod::flat);
  const double moved = flat.sync_s();
  flat.whole.set(engine_wake_overhead_s, 7);
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved);
  Case<> colocated(row_of_nodes(1, 2), small_workflow(), same_everywhere(plan_of({{stage(3, {0, 1})}})));
  const auto sync_s = [&] {
    return terms::weight_sync_s(colocated.problem, colocated.work(kTraining), colocated.work(kGeneration));
  };
  const double resharded = sync_s();
  colocated.set(engine_wake_overhead_s, 7);
  EXPECT_DOUBLE_EQ(sync_s(), resharded + 7);
}

// Rank 2 on seven projections of a layer: 2 * (4 * (4 + 4) + 3 * (4 + 8)) = 136 weights.
TaskPlan training_adapters(int zero_stage) {
  TaskPlan trains = plan_of({{stage(3, {0, 1})}});
  trains.execution.lora_rank = 2;
  trains.execution.zero_stage = zero_stage;
  return trains;
}

TEST(WeightSync, AdaptersAreSentAlone) {
  Pools flat(WeightSyncMethod::flat, 1, std::nullopt, training_adapters(0));
  const double moved = 5 + 2 * (2 * 3 * 136) / 20.0;
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved);
  flat.whole.set(weight_copy_weight, 1);  // the engine keeps its weights
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved);
  flat.whole.set(weight_sync_tensor_overhead_s, 0.5);  // of three layers
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved + 3 * 0.5);
}

TEST(WeightSync, AdaptersOfShardedWeightsAreGatheredWithTheirLayers) {
  const double sent = 2 * 3 * 136;
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::per_replica, 1, std::nullopt, training_adapters(0)).sync_s(),
                   (1 + sent / 200) + (1 + sent / 200) + (5 + sent / 10));
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::per_replica, 1, std::nullopt, training_adapters(3)).sync_s(),
                   (1 + 4.8) + (1 + sent / 200) + (5 + sent / 10));
}

TEST(WeightSync, ShardedWeightsAreGatheredFromAllReplicas) {
  // Two replicas of one device: half of 960 bytes comes from the other.
  TaskPlan trains = plan_of({{stage(3, {0})}, {stage(3, {1})}});
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::per_replica, 1, std::nullopt, trains).sync_s(),
                   (1 + 4.8) + (5 + 96));
  trains.execution.zero_stage = 3;
  EXPECT_DOUBLE_EQ(Pools(WeightSyncMethod::per_replica, 1, std::nullopt, trains).sync_s(),
                   (1 + 4.8) + (1 + 4.8) + (5 + 96));
}

Cluster row_with_host(double host_bytes_per_s) {
  DeviceType type = device_type(100, 50);
  type.host_bytes_per_s = assumed(host_bytes_per_s);
  const Cluster row = row_of_nodes(1, 2);
  return Cluster("row", {{"fast", type}}, row.nodes(), row.levels());
}

TEST(WeightSync, WeightsOnTheHostComeAndGo) {
  const auto sync_s = [](const TaskPlan& trains) {
    Case<> colocated(row_with_host(80), small_workflow(), same_everywhere(trains));
    return terms::weight_sync_s(colocated.problem, colocated.work(kTraining), colocated.work(kGeneration));
  };
  TaskPlan trains = plan_of({{stage(3, {0})}, {stage(3, {1})}});
  EXPECT_DOUBLE_EQ(sync_s(trains), 0);
  trains.execution.offload_weights = true;
  EXPECT_DOUBLE_EQ(sync_s(trains), 2 * 960 / 80.0);
  trains.execution.zero_stage = 3;
  EXPECT_DOUBLE_EQ(sync_s(trains), (1 + 4.8) + 2 * 480 / 80.0);
}

TEST(WeightSync, PoolsCopyBesideEachOther) {
  // The trainer puts 960 bytes together, each of two generation devices writes its 480: read and written at 50
  // B/s.
  Pools flat(WeightSyncMethod::flat);
  const double moved = flat.sync_s();
  flat.whole.set(weight_copy_weight, 1);
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved + 2 * 960 / 50.0);
  flat.whole.set(weight_copy_weight, 0.5);
  EXPECT_DOUBLE_EQ(flat.sync_s(), moved + 960 / 50.0);
}

TEST(WeightSync, WhatIsNotInPartsIsNotPutTogether) {
  Pools stages(WeightSyncMethod::flat, 1, std::nullopt, plan_of({{stage(2, {0}), stage(1, {1})}}));
  const double moved = stages.sync_s();
  stages.whole.set(weight_copy_weight, 1);
  EXPECT_DOUBLE_EQ(stages.sync_s(), moved + 2 * 480 / 50.0);
}

TEST(WeightSync, ColocatedDevicesCopyOneAfterTheOther) {
  Case<> colocated(row_of_nodes(1, 2), small_workflow(), same_everywhere(plan_of({{stage(3, {0, 1})}})));
  const auto sync_s = [&] {
    return terms::weight_sync_s(colocated.problem, colocated.work(kTraining), colocated.work(kGeneration));
  };
  const double moved = sync_s();
  colocated.set(weight_copy_weight, 1);
  EXPECT_DOUBLE_EQ(sync_s(), moved + 2 * 960 / 50.0 + 2 * 480 / 50.0);
}

TEST(WeightSync, ColocatedPlansReshardWhateverTheMethod) {
  for (const WeightSyncMethod method :
       {WeightSyncMethod::shortest, WeightSyncMethod::flat, WeightSyncMethod::topology_aware}) {
    Plan plan = same_everywhere(uneven_pipeline());
    plan.weight_sync.method = method;
    plan.weight_sync.fraction_sent = 0.5;
    const Case<> colocated(small_cluster(), small_workflow(), plan);
    // 480 * 2/3 bytes over a-b.
    EXPECT_DOUBLE_EQ(
        terms::weight_sync_s(colocated.problem, colocated.work(kTraining), colocated.work(kGeneration)),
        5 + 32);
  }
}

TEST(WeightSync, CountsTensorsAsCheckpointsDo) {
  Model llama;  // Llama-3.1-8B: 291 in model.safetensors.index.json
  llama.layers = 32;
  EXPECT_EQ(terms::weight_tensors(llama), 291);
  Model mixtral = llama;  // Mixtral-8x7B: 995
  mixtral.experts = Experts{8, 2, 14336, 0, 0};
  EXPECT_EQ(terms::weight_tensors(mixtral), 995);
  Model tied = llama;
  tied.tied_embeddings = true;
  EXPECT_EQ(terms::weight_tensors(tied), 290);
  // Two layers of latent attention (seven tensors each), one dense and one with a shared and four routed
  // experts.
  Model latent = small_mixture();
  latent.layers = 2;
  latent.experts->dense_layers = 1;
  latent.latent_attention = LatentAttention{2, 2, 1};
  EXPECT_EQ(terms::weight_tensors(latent), (7 + 2 + 3) + (7 + 2 + 1 + 3 * 5) + 3);
}

}  // namespace
}  // namespace sextant::test
