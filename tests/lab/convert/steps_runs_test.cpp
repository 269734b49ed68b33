// The runs of training steps: vTrain, torchtitan, and the collection of many sources.
#include <gmock/gmock.h>

#include "core/csv.h"
#include "tests/lab/convert/published_runs.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

const PublishedRuns& vtrain() {
  static const PublishedRuns runs("vtrain");
  return runs;
}

const PublishedRuns& torchtitan() {
  static const PublishedRuns runs("torchtitan");
  return runs;
}

const PublishedRuns& training() {
  static const PublishedRuns runs("training");
  return runs;
}

TEST(PublishedSteps, SayWhereTheyAreFrom) {
  for (const PublishedRuns* runs : {&vtrain(), &torchtitan(), &training()}) {
    for (const sextant::Run& run : runs->all().runs) {
      EXPECT_EQ(run.source, RunSource::published) << run.name;
      for (const char* note : {"source", "model", "gpu"}) {
        EXPECT_TRUE(run.notes.contains(note)) << run.name << " has no note " << note;
      }
    }
  }
}

// ---- vTrain ----

TEST(VtrainRuns, HaveAPlanOfManyNodes) {
  EXPECT_THAT(vtrain().count_by_framework(), ElementsAre(Pair("megatron-deepspeed", 1120 + 72)));
  const sextant::Run& run = vtrain().run("vtm0015");
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(10.7193));
  EXPECT_THAT(run.tasks, IsEmpty());
  const TaskPlan& task = vtrain().training("vtm0015");
  EXPECT_EQ(task.data_parallel(), 4);
  EXPECT_THAT(task.replicas[0].stages, SizeIs(1));
  EXPECT_EQ(tensor_parallel(task), 16);  // over two nodes
  EXPECT_EQ(task.micro_batch_sequences, 16);
  const Cluster& cluster = vtrain().cluster("vtm0015");
  EXPECT_EQ(cluster.device_count(), 64);
  EXPECT_THAT(cluster.nodes(), SizeIs(8));
  EXPECT_EQ(cluster.nodes()[0].network_bytes_per_s, 100e9);  // 800 Gbit/s
}

TEST(VtrainRuns, AreOfAGptWithFourTimesTheWidth) {
  const Model& model = vtrain().model("vtm0015");
  EXPECT_EQ(model.intermediate, 4 * 3072);
  EXPECT_FALSE(model.gated_mlp);
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(model.head_dim, 96);
  // 12 h^2 a layer and one table: the 3.6 billion of the source's label.
  EXPECT_NEAR(model.parameters(), 3.6e9, 0.05e9);
  EXPECT_EQ(vtrain().workflow("vtm0015").precision, Precision::fp16);
}

TEST(VtrainRuns, OfManyNodesRecomputeAndOfOneNodeDoNotSay) {
  EXPECT_EQ(vtrain().training("vtm0001").recompute, Recompute::full);
  EXPECT_THAT(vtrain().run("vtm0001").unstated, IsEmpty());
  EXPECT_EQ(vtrain().training("vts0001").recompute, Recompute::none);
  const Unstated expected{UnstatedQuantity::recompute, "vtrain-single", 0.5};
  EXPECT_THAT(vtrain().run("vts0001").unstated, ElementsAre(expected));
  EXPECT_THAT(vtrain().run("vts0001").notes.at("left unsaid"), HasSubstr("recomputation"));
  EXPECT_THAT(vtrain().run("vtm0001").notes.at("left unsaid"), Not(HasSubstr("recomputation")));
}

TEST(VtrainRuns, OfOneNodeCarryTheCaveatOfTheirProvenance) {
  for (const sextant::Run& run : vtrain().all().runs) {
    EXPECT_EQ(run.notes.contains("caveat"), vtrain().cluster(run.name).nodes().size() == 1) << run.name;
  }
  EXPECT_THAT(vtrain().run("vts0001").notes.at("caveat"), HasSubstr("not an independent"));
}

// Why they carry it: another micro-batch adds the same time to the nanosecond, whatever their number.
TEST(VtrainRuns, OfOneNodeAreExactlyLinearInMicroBatches) {
  constexpr double kPrintedTo = 1e-9;
  const CsvTable table = load_csv(std::string(SEXTANT_SOURCE_DIR) + "/data/public/vtrain/single_node_runs.csv");
  std::map<std::vector<std::string>, std::map<int, double>> groups;  // by all else: time by micro-batches
  for (const CsvRow& row : table.rows()) {
    std::vector<std::string> key;
    for (const char* column : {"hidden", "layers", "micro_batch_sequences", "tp", "pp", "dp"}) {
      key.push_back(row.text(column));
    }
    groups[key][row.count("micro_batches_per_replica", 1)] = row.positive("iteration_time_s");
  }
  int checked = 0;
  for (const auto& [key, times] : groups) {
    if (times.size() < 3) continue;
    const auto [first, first_s] = *times.begin();
    const auto [last, last_s] = *times.rbegin();
    const double slope_s = (last_s - first_s) / (last - first);
    for (const auto& [count, time_s] : times) {
      EXPECT_NEAR(time_s, first_s + slope_s * (count - first), 4 * count * kPrintedTo);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 224);
}

// ---- torchtitan ----

TEST(TorchtitanRuns, HaveStepTimesFromThroughput) {
  EXPECT_THAT(torchtitan().all().runs, SizeIs(21));
  const sextant::Run& run = torchtitan().run("tt0001");
  // 16 sequences of 8192 tokens over 8 GPUs at 5762 tokens a second each.
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(16 * 8192.0 / (5762 * 8)));
  EXPECT_EQ(run.peak_memory_bytes, 88476326298.0);
  EXPECT_EQ(run.notes.at("grade"), "B");
}

// The page states the network of its nodes, a quarter of what the GPU type usually has.
TEST(TrainingRuns, OfFmsFsdpHaveTheStatedNetworkAndShardInNodesWhereThePageSaysSo) {
  const std::string small = "fms-fsdp-a100-80gb-llama2-7b-128", large = "fms-fsdp-a100-80gb-llama2-34b-128";
  EXPECT_EQ(training().cluster(small).nodes().front().network_bytes_per_s, 50e9);
  EXPECT_EQ(training().cluster("fms-fsdp-h100-llama2-7b-96").nodes().front().network_bytes_per_s, 100e9);
  EXPECT_EQ(training().training(small).execution.sharded_over, 8);
  EXPECT_EQ(training().training(large).execution.sharded_over, 0);
  EXPECT_EQ(training().training(small).recompute, Recompute::none);
  EXPECT_EQ(training().training(large).recompute, Recompute::full);
  EXPECT_THAT(training().run(small).iteration.samples_s, ElementsAre(1.8004));
}

TEST(TorchtitanRuns, AreOnH100WithOtherMemory) {
  EXPECT_EQ(torchtitan().cluster("tt0001").type_name(DeviceId{0}), "H100-SXM-96GB");
  EXPECT_EQ(torchtitan().cluster("tt0021").type_name(DeviceId{0}), "H200-SXM-141GB");
}

TEST(TorchtitanRuns, ShardWeightsUnlessThereIsAPipeline) {
  const TaskPlan& sharded = torchtitan().training("tt0001");
  EXPECT_EQ(sharded.execution.zero_stage, 3);
  EXPECT_EQ(sharded.micro_batch_sequences, 2);
  EXPECT_EQ(sharded.execution.gradient_precision, Precision::fp32);
  EXPECT_FALSE(sharded.execution.precision.has_value());
  EXPECT_FALSE(sharded.execution.sequence_parallel);
  const TaskPlan& piped = torchtitan().training("tt0008");
  EXPECT_EQ(piped.execution.zero_stage, 1);
  EXPECT_EQ(piped.micro_batch_sequences, 1);  // the local batch of 8 one by one
  EXPECT_EQ(piped.execution.precision, Precision::fp8);
  EXPECT_EQ(piped.execution.weight_precision, Precision::bf16);
  EXPECT_TRUE(piped.execution.sequence_parallel);
  EXPECT_EQ(piped.replicas[0].pipeline_parallel(), 8);
}

TEST(TorchtitanRuns, OfOneContextParallelReplicaAreShardedOverItsParts) {
  const TaskPlan& task = torchtitan().training("tt0007");
  EXPECT_EQ(task.data_parallel(), 1);
  EXPECT_EQ(task.execution.context_parallel, 8);
  EXPECT_EQ(task.execution.zero_stage, 3);
}

TEST(TorchtitanRuns, LeaveSelectiveRecomputationToTheFit) {
  EXPECT_EQ(torchtitan().training("tt0001").recompute, Recompute::none);
  const Unstated expected{UnstatedQuantity::recompute, "torchtitan-selective", 0.3};
  EXPECT_THAT(torchtitan().run("tt0001").unstated, ElementsAre(expected));
  EXPECT_EQ(torchtitan().training("tt0005").recompute, Recompute::full);
  EXPECT_THAT(torchtitan().run("tt0005").unstated, IsEmpty());
}

// ---- many sources ----

TEST(TrainingRuns, AreOfSixFrameworks) {
  EXPECT_THAT(training().count_by_framework(),
              ElementsAre(Pair("automodel", 10), Pair("fms-fsdp", 4), Pair("llm-foundry", 145),
                          Pair("megatron-bridge", 141), Pair("megatron-lm", 13), Pair("nemo", 32),
                          Pair("prime-rl", 35)));
}

TEST(TrainingRuns, OfNvidiaRecipesShardTheOptimizer) {
  const std::string name = "mbridge-26.08-gb300-deepseekv3-256-mxfp8-gbs4096-pretrain";
  const sextant::Run& run = training().run(name);
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(10.4224));
  EXPECT_THAT(run.unstated, IsEmpty());
  EXPECT_EQ(run.notes.at("left unsaid"), "network");
  EXPECT_THAT(run.notes.at("settings"), HasSubstr("deepseek_v3_pretrain_256gpu_gb300_fp8mx_config"));
  const TaskPlan& task = training().training(name);
  EXPECT_EQ(task.data_parallel(), 128);
  EXPECT_EQ(task.execution.expert_parallel, 32);
  EXPECT_EQ(task.execution.expert_tensor_parallel, 1);
  EXPECT_EQ(task.execution.virtual_stages, 8);
  EXPECT_EQ(task.execution.zero_stage, 1);
  EXPECT_TRUE(task.execution.fused_attention);
  EXPECT_EQ(task.execution.precision, Precision::fp8);
  EXPECT_EQ(task.execution.weight_precision, Precision::bf16);
  EXPECT_EQ(task.execution.training_graphs, TrainingGraphs::iteration);
  EXPECT_TRUE(task.execution.fused_dispatch && task.execution.overlap_dispatch && task.execution.fused_experts);
  EXPECT_EQ(task.execution.attention_precision, Precision::fp8);
}

TEST(TrainingRuns, WithoutTheirRecipeDoNotSayWhatTheyRecompute) {
  const sextant::Run& run = training().run("mbridge-25.11-h100-llama3-8b-8-fp8-cs-gbs128-pretrain");
  EXPECT_THAT(run.unstated,
              ElementsAre(Unstated{UnstatedQuantity::recompute, "megatron-bridge Llama-3.1-8B", 0.2}));
  EXPECT_EQ(run.notes.at("left unsaid"), "activation recompute; network; overlap flags");
}

TEST(TrainingRuns, CountFirstVirtualStagesWithoutDecoderLayers) {
  const std::string name = "mbridge-26.06-gb200-llama3-1-405b-256-nvfp4-gbs1536-pretrain";
  EXPECT_EQ(training().training(name).execution.virtual_stages, 7);
  EXPECT_EQ(training().training(name).execution.precision, Precision::fp4);
  EXPECT_THAT(training().run(name).notes.at("assumed"), HasSubstr("7 virtual stages in place of 8"));
}

TEST(TrainingRuns, OfMegatronsOwnTablesHaveNeitherFusedAttentionNorShards) {
  const TaskPlan& full = training().training("korthikanti-a100-530b-full");
  EXPECT_EQ(full.recompute, Recompute::full);
  EXPECT_FALSE(full.execution.fused_attention);
  EXPECT_FALSE(full.execution.sequence_parallel);
  EXPECT_EQ(full.execution.zero_stage, 0);
  EXPECT_EQ(full.execution.virtual_stages, 3);
  const TaskPlan& selective = training().training("korthikanti-a100-530b-seqsel");
  EXPECT_EQ(selective.recompute, Recompute::selective);
  EXPECT_TRUE(selective.execution.sequence_parallel);
  const Model& model = training().model("korthikanti-a100-530b-full");
  EXPECT_EQ(model.intermediate, 81920);
  EXPECT_FALSE(model.gated_mlp);
  EXPECT_NEAR(model.parameters(), 530e9, 5e9);
}

TEST(TrainingRuns, OfComposerSayHowGradientsAreReduced) {
  const TaskPlan& task = training().training("llmfoundry-h100-80gb-mpt70b-512-s2048-bf16");
  EXPECT_EQ(task.execution.zero_stage, 3);
  EXPECT_EQ(task.execution.gradient_precision, Precision::fp32);
  EXPECT_EQ(task.recompute, Recompute::full);
}

TEST(TrainingRuns, OfPrimeOffloadTheActivationsThatTheyKeep) {
  const std::string name =
      "prime-rl-1xh100-qwen-qwen3-4b-instruct-2507-rl-16-1gpu-offload-flash-attention-3-16384-cp1-ep1";
  const TaskPlan& task = training().training(name);
  EXPECT_EQ(task.recompute, Recompute::full);
  EXPECT_TRUE(task.execution.offload_activations);
  EXPECT_EQ(task.execution.lora_rank, 16);
  EXPECT_EQ(task.execution.zero_stage, 0);  // one GPU
  EXPECT_NEAR(*training().run(name).peak_memory_bytes, 20.568359375 * 1024 * 1024 * 1024, 1);
  EXPECT_TRUE(training()
                  .training("prime-rl-8xb200-primeintellect-intellect-3-rl-16-8gpu-recompute-flash-attention-2-"
                            "16384-cp1-ep1")
                  .execution.unfused);
}

}  // namespace
}  // namespace sextant
