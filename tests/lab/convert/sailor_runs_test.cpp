// The runs of Sailor's plans and profiles of layers.
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "tests/lab/convert/published_runs.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

const PublishedRuns& sailor() {
  static const PublishedRuns runs("sailor");
  return runs;
}

TEST(SailorRuns, AreOfPlansAndOfLayers) {
  EXPECT_THAT(sailor().count_by_framework(),
              ElementsAre(Pair("megatron-deepspeed", 19), Pair("megatron-deepspeed-profile", 2 * 177)));
}

TEST(SailorRuns, HaveStagesOfUnlikeGpus) {
  const std::string name = "mit-N4-N4_D1";
  const sextant::Run& run = sailor().run(name);
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(83.76622));
  EXPECT_EQ(run.peak_memory_bytes, 6233784320.0);
  const TaskPlan& task = sailor().training(name);
  ASSERT_THAT(task.replicas, SizeIs(1));
  std::vector<int> decoder_layers;
  std::vector<std::string> types;
  for (const Stage& stage : task.replicas[0].stages) {
    decoder_layers.push_back(stage.layers);
    types.push_back(sailor().cluster(name).type_name(stage.devices.front()));
    EXPECT_EQ(stage.width(), 8);
  }
  // The source counts the embedding with the first stage's 5, the head with the last one's 7.
  EXPECT_THAT(decoder_layers, ElementsAre(4, 7, 7, 6));
  EXPECT_THAT(types, ElementsAre("RTX-3090", "RTX-2080-Ti", "Titan-RTX", "RTX-2080-Ti"));
  EXPECT_FALSE(task.execution.fused_attention);
  EXPECT_EQ(task.recompute, Recompute::none);
}

TEST(SailorRuns, HaveReplicasOfUnlikeGpus) {
  const TaskPlan& task = sailor().training("mit-N6-N6_D2");
  ASSERT_THAT(task.replicas, SizeIs(2));
  const Cluster& cluster = sailor().cluster("mit-N6-N6_D2");
  EXPECT_EQ(cluster.type_name(task.replicas[0].stages[0].devices[0]), "RTX-3090");
  EXPECT_EQ(cluster.type_name(task.replicas[1].stages[0].devices[0]), "RTX-2080-Ti");
  EXPECT_DOUBLE_EQ(task.replicas[1].batch_share, 0.5);
}

TEST(SailorRuns, HaveLinksFromTheCurves) {
  constexpr double kMicrosecond = 1e-6;
  const Cluster& cluster = sailor().cluster("clariden-OPT-350-N4-N4_D4");
  EXPECT_TRUE(cluster.has_uniform_links());
  // One pair of four reaches 22.9e9 bytes/s at most, all together 92.6e9.
  const LinkRate& pair = cluster.link(DeviceId{0}, DeviceId{4});
  EXPECT_NEAR(pair.bytes_per_s.value, 22.9e9, 2e9);
  EXPECT_GT(pair.latency_s.value, kMicrosecond);
  EXPECT_EQ(pair.bytes_per_s.source, Source::measured);
  EXPECT_NEAR(*cluster.nodes()[0].network_bytes_per_s, 92.6e9, 8e9);
  // Each pair within a node its own 125e9, so that a ring over four has three of them.
  EXPECT_NEAR(cluster.link(DeviceId{0}, DeviceId{1}).bytes_per_s.value, 3 * 125e9, 40e9);
}

TEST(SailorRuns, HaveExceptionalLinksInMixedClusters) {
  const Cluster& cluster = sailor().cluster("mit-N6-N6_D6");
  EXPECT_FALSE(cluster.has_uniform_links());
  std::map<std::string, DeviceId> first, second;  // device of each type, then one of another node
  for (int d = 0; d < cluster.device_count(); d += 8) {
    const DeviceId device{d};
    if (!first.emplace(cluster.type_name(device), device).second)
      second.emplace(cluster.type_name(device), device);
  }
  const auto rate = [&](DeviceId a, DeviceId b) { return cluster.link(a, b).bytes_per_s.value; };
  EXPECT_NEAR(rate(first.at("Titan-RTX"), second.at("Titan-RTX")), 2.86e9, 0.2e9);
  EXPECT_NEAR(rate(first.at("RTX-3090"), first.at("Titan-RTX")), 0.115e9, 0.01e9);
  EXPECT_NEAR(rate(first.at("Titan-RTX"), first.at("RTX-2080-Ti")), 0.115e9, 0.01e9);
}

TEST(SailorRuns, OnGpusWithoutTf32RunItAsFp32) {
  const Cluster& cluster = sailor().cluster("mit-N4-N4_D1");
  const auto rate = [&](const char* type, Precision precision) {
    return cluster.device_types().at(type).flop_per_s.at(precision).value;
  };
  EXPECT_EQ(rate("Titan-RTX", Precision::tf32), rate("Titan-RTX", Precision::fp32));
  EXPECT_EQ(cluster.device_types().at("Titan-RTX").memory_bytes.value, 25769803776.0);
  const Workflow& workflow = sailor().workflow("mit-N4-N4_D1");
  EXPECT_EQ(workflow.precision, Precision::tf32);
  EXPECT_EQ(workflow.sequences(), 256);
}

TEST(SailorLayerRuns, NameLinesOfTheTable) {
  std::set<int> used;
  for (const sextant::Run& run : sailor().all().runs) {
    if (!run.notes.contains("layer_times.csv lines")) continue;
    std::istringstream in(run.notes.at("layer_times.csv lines"));
    for (std::string line; std::getline(in, line, ',');) used.insert(std::stoi(line));
  }
  EXPECT_EQ(used.size(), 826U - 134U);  // the rest are copies of profiles
}

// OPT-350 on GH-96, one GPU, one sequence: update 1.358 ms (the median over micro-batches), of which a layer
// has 12,596,224 of 130,314,240 parameters.
TEST(SailorLayerRuns, OfAProfileUseEachTimeOnce) {
  constexpr double kUpdate = 1.358e-3;
  constexpr double kShare = 12596224.0 / 130314240;
  const auto time_s = [](const std::string& name) {
    return sailor().run(name).tasks.at(task_names::kActorTraining).median_s();
  };
  EXPECT_NEAR(time_s("OPT-350 GH-96 tp1 b1 layer"), 1.225e-3 + 2.685e-3 + kUpdate * kShare, 1e-9);
  EXPECT_NEAR(time_s("OPT-350 GH-96 tp1 b1 ends"),
              0.22e-3 + 0.002e-3 + 1.403e-3 + 2.685e-3 + 2.068e-3 + 2.109e-3 + kUpdate * (1 - kShare), 1e-9);
}

TEST(SailorLayerRuns, HaveOneLayerWithAndWithoutEnds) {
  const Model& layer = sailor().model("OPT-350 GH-96 tp4 b8 layer");
  EXPECT_EQ(layer.layers, 1);
  EXPECT_EQ(layer.vocabulary, 0);
  const Model& ends = sailor().model("OPT-350 GH-96 tp4 b8 ends");
  EXPECT_EQ(ends.vocabulary, 50304);
  EXPECT_FALSE(ends.tied_embeddings);  // the profile's sizes count both tables
  EXPECT_TRUE(sailor().model("LLAMA-3-8 GH-96 tp4 b1 ends").tied_embeddings);
  // 268.5e6 in a layer of LLAMA-3-8 as profiled.
  EXPECT_NEAR(sailor().model("LLAMA-3-8 GH-96 tp4 b1 layer").layer_parameters(), 268.5e6, 0.1e6);
  const TaskPlan& task = sailor().training("OPT-350 GH-96 tp4 b8 layer");
  EXPECT_EQ(task.replicas[0].stages[0].width(), 4);
  EXPECT_EQ(task.micro_batch_sequences, 8);
}

TEST(SailorLayerRuns, AboveTheRateOfVectorUnitsProveTf32) {
  const auto precision = [](const std::string& name) { return sailor().workflow(name).precision; };
  EXPECT_EQ(precision("OPT-350 GH-96 tp1 b1 layer"), Precision::tf32);
  EXPECT_EQ(precision("OPT-350 A100-80 tp4 b1 layer"), Precision::tf32);
  EXPECT_EQ(precision("OPT-30 A100-40 tp4 b1 layer"), Precision::fp32);  // 18e12 of 19.5e12 at most
  EXPECT_EQ(precision("OPT-350 V100-16 tp1 b1 layer"), Precision::fp32);
}

}  // namespace
}  // namespace sextant
