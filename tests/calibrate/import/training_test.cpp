#include "calibrate/import/published/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json_value.h"
#include "tests/calibrate/import/step_cases.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

const Imported& carried() {
  static const Imported imported =
      import_runs("training", {carried_file("training/training.json")}, carried_facts());
  return imported;
}

// A record that becomes a run; `config` and `measured` are members added to those that every record has.
Json record(const std::string& id, const Json& config = Json::object(), const Json& measured = Json::object()) {
  Json out = {{"id", id},
              {"source", {{"title", "t"}, {"location", "l"}, {"table_or_section", "s"}}},
              {"hardware", {{"gpu", "H100"}, {"gpus", 8}, {"gpus_per_node", 8}}},
              {"model", "LLAMA3_8B"},
              {"config",
               {{"tp", 2},
                {"pp", 1},
                {"cp", 1},
                {"global_batch", 16},
                {"micro_batch", 1},
                {"sequence_length", 8192},
                {"precision", "BF16"}}},
              {"measured", {{"step_time_s", 2.5}}},
              {"grade", "A"}};
  out["config"].update(config);
  if (!measured.empty()) out["measured"] = measured;
  return out;
}

Imported import_records(const std::vector<Json>& records,
                        const std::string& schema = "sextant.published.training/1") {
  OwnFiles files;
  const Json document = {{"schema", schema}, {"records", records}};
  return read_training({files.write("training.json", format_json(document))}, carried_facts());
}

int left_out_because(const Imported& imported, const std::string& words) {
  return static_cast<int>(
      std::count_if(imported.left_out.begin(), imported.left_out.end(),
                    [&](const LeftOut& it) { return it.reason.find(words) != std::string::npos; }));
}

TEST(Training, EveryCarriedRecordIsARunOrLeftOut) {
  EXPECT_THAT(count_by_framework(carried()),
              ElementsAre(Pair("automodel", 10), Pair("llm-foundry", 145), Pair("megatron-bridge", 141),
                          Pair("megatron-lm", 13), Pair("nemo", 32), Pair("prime-rl", 35)));
  EXPECT_EQ(left_out_because(carried(), "read as format vtrain"), 72);
  EXPECT_EQ(left_out_because(carried(), "read as format sailor"), 20);
  EXPECT_EQ(left_out_because(carried(), "neither the time of a step nor its throughput"), 11 + 6);
  EXPECT_EQ(left_out_because(carried(), "deterministic kernels"), 3);
  EXPECT_EQ(left_out_because(carried(), "multi-token prediction"), 1);
  EXPECT_EQ(left_out_because(carried(), "the publisher"), 3);  // says that these are not what they should be
  EXPECT_EQ(left_out_because(carried(), "the shape of model"), 35);
  EXPECT_EQ(left_out_because(carried(), "printed again"), 4);
  EXPECT_EQ(carried().runs.runs.size() + carried().left_out.size(), 531u);
  expect_sound(carried());
}

TEST(Training, NvidiaRecipesShardTheOptimizer) {
  const std::string name = "mbridge-26.08-gb300-deepseekv3-256-mxfp8-gbs4096-pretrain";
  const sextant::Run& run = run_named(carried(), name);
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(10.4224));
  EXPECT_THAT(run.unstated, IsEmpty());
  EXPECT_EQ(run.notes.at("left unsaid"), "network");
  EXPECT_THAT(run.notes.at("settings"), HasSubstr("deepseek_v3_pretrain_256gpu_gb300_fp8mx_config"));
  const TaskPlan& task = task_of(carried(), name);
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

TEST(Training, WithoutItsRecipeARecordDoesNotSayWhatItRecomputes) {
  const std::string name = "mbridge-25.11-h100-llama3-8b-8-fp8-cs-gbs128-pretrain";
  EXPECT_THAT(run_named(carried(), name).unstated,
              ElementsAre(Unstated{UnstatedQuantity::recompute, "megatron-bridge Llama-3.1-8B", 0.2}));
  EXPECT_EQ(run_named(carried(), name).notes.at("left unsaid"), "activation recompute; network; overlap flags");
}

TEST(Training, SettingsOfNvidiaRecipes) {
  const Json none = Json::array();
  const Imported imported = import_records(
      {record("mbridge-a", {{"recompute_modules", none}, {"cuda_graphs", {"moe_router", "attn"}}}),
       record("mbridge-b",
              {{"recompute_modules", {"core_attn", "moe_act"}}, {"cuda_graphs", {"moe_preprocess"}}}),
       record("mbridge-c",
              {{"recompute_modules", {"moe_act"}}, {"cuda_graphs", {"mlp"}}, {"megatron_fsdp", true}}),
       record("mbridge-d", {{"recompute_modules", none}, {"activation_offload_layers", 12}})});
  const auto execution = [&imported](const char* name) { return task_of(imported, name).execution; };
  EXPECT_EQ(execution("mbridge-a").training_graphs, TrainingGraphs::attention);
  EXPECT_EQ(execution("mbridge-b").training_graphs, TrainingGraphs::routing);
  EXPECT_EQ(execution("mbridge-c").training_graphs, TrainingGraphs::none);
  EXPECT_EQ(task_of(imported, "mbridge-b").recompute, Recompute::selective);
  EXPECT_EQ(task_of(imported, "mbridge-c").recompute, Recompute::none);
  EXPECT_EQ(execution("mbridge-c").zero_stage, 3);
  EXPECT_TRUE(execution("mbridge-d").offload_activations);
  EXPECT_EQ(execution("mbridge-d").offload_activation_layers, 12);
  EXPECT_FALSE(execution("mbridge-d").fused_dispatch);
  const auto refusal = [](const Json& config) {
    return refusal_of([&config] { (void)import_records({record("mbridge-a", config)}); });
  };
  EXPECT_THAT(refusal({{"recompute_modules", {"moe"}}}),
              HasSubstr("/records/0/config/recompute_modules/0: expected one of layernorm, moe_act"));
  EXPECT_THAT(
      refusal({{"recompute_modules", none}, {"moe_dispatcher", "allgather"}}),
      HasSubstr("/config/moe_dispatcher: expected one of alltoall, deepep, hybridep, got \"allgather\""));
}

TEST(Training, PrimeRunsKernelsOfOlderDevicesOnNewerOnes) {
  const Json flash_2 = {{"tp", 1}, {"attention", "flash_attention_2"}, {"activation_recompute", "full"}};
  Json older = record("prime-a", flash_2);
  older["hardware"]["gpu"] = "A100";
  const Imported imported = import_records({older, record("prime-b", flash_2)});
  EXPECT_FALSE(task_of(imported, "prime-a").execution.portable_attention);
  EXPECT_TRUE(task_of(imported, "prime-b").execution.portable_attention);
  EXPECT_FALSE(task_of(imported, "prime-b").execution.unfused);
  EXPECT_TRUE(task_of(carried(),
                      "prime-rl-8xb200-primeintellect-intellect-3-rl-16-8gpu-recompute-flash-attention-2-"
                      "16384-cp1-ep1")
                  .execution.unfused);
}

TEST(Training, FirstVirtualStagesWithoutDecoderLayersAreCounted) {
  const std::string name = "mbridge-26.06-gb200-llama3-1-405b-256-nvfp4-gbs1536-pretrain";
  const TaskPlan& task = task_of(carried(), name);
  EXPECT_EQ(task.execution.virtual_stages, 7);
  EXPECT_EQ(task.execution.precision, Precision::fp4);
  EXPECT_THAT(run_named(carried(), name).notes.at("assumed"), HasSubstr("7 virtual stages in place of 8"));
}

TEST(Training, MegatronsOwnTablesHaveNeitherFusedAttentionNorShards) {
  const TaskPlan& full = task_of(carried(), "korthikanti-a100-530b-full");
  EXPECT_EQ(full.recompute, Recompute::full);
  EXPECT_FALSE(full.execution.fused_attention);
  EXPECT_FALSE(full.execution.sequence_parallel);
  EXPECT_EQ(full.execution.zero_stage, 0);
  EXPECT_EQ(full.execution.virtual_stages, 3);
  const TaskPlan& selective = task_of(carried(), "korthikanti-a100-530b-seqsel");
  EXPECT_EQ(selective.recompute, Recompute::selective);
  EXPECT_TRUE(selective.execution.sequence_parallel);
  const Model& model = model_of(carried(), "korthikanti-a100-530b-full");
  EXPECT_EQ(model.intermediate, 81920);
  EXPECT_FALSE(model.gated_mlp);
  EXPECT_NEAR(model.parameters(), 530e9, 5e9);
}

TEST(Training, ComposersModesSayHowGradientsAreReduced) {
  const TaskPlan& plain = task_of(carried(), "llmfoundry-h100-80gb-mpt70b-512-s2048-bf16");
  EXPECT_EQ(plain.execution.zero_stage, 3);
  EXPECT_EQ(plain.execution.gradient_precision, Precision::fp32);
  EXPECT_EQ(plain.recompute, Recompute::full);
  const Imported imported = import_records({record(
      "llmfoundry-a",
      {{"tp", 1}, {"strategy", "FSDP SHARD_GRAD_OP"}, {"mp_mode", "PURE"}, {"activation_recompute", false}})});
  const TaskPlan& pure = task_of(imported, "llmfoundry-a");
  EXPECT_EQ(pure.execution.zero_stage, 2);
  EXPECT_FALSE(pure.execution.gradient_precision.has_value());
  EXPECT_EQ(pure.recompute, Recompute::none);
}

TEST(Training, PrimeOffloadsTheActivationsThatItKeeps) {
  const std::string name =
      "prime-rl-1xh100-qwen-qwen3-4b-instruct-2507-rl-16-1gpu-offload-flash-attention-3-16384-cp1-ep1";
  const TaskPlan& task = task_of(carried(), name);
  EXPECT_EQ(task.recompute, Recompute::full);
  EXPECT_TRUE(task.execution.offload_activations);
  EXPECT_EQ(task.execution.lora_rank, 16);
  EXPECT_EQ(task.execution.zero_stage, 0);  // one GPU
  EXPECT_NEAR(*run_named(carried(), name).peak_memory_bytes, 20.568359375 * 1024 * 1024 * 1024, 1);
}

TEST(Training, TorchtitanRecordsAreReadLikeItsTable) {
  Json stated = record("torchtitan-x",
                       {{"tp", 1},
                        {"fsdp", 8},
                        {"dp", 8},
                        {"local_batch", 2},
                        {"activation_recompute", "full"},
                        {"precision", "FP8 rowwise"}},
                       {{"tokens_per_s_per_gpu", 4096}, {"memory_gib", 2}});
  stated["config"].erase("micro_batch");
  stated["config"].erase("sequence_length");
  stated["hardware"]["gpu_variant"] = "96 GB HBM2e, 2.4 TB/s, 500 W limit";
  const Imported imported = import_records({stated});
  const sextant::Run& run = run_named(imported, "torchtitan-x");
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(4));  // 16 x 8192 tokens at 8 x 4096 a second
  EXPECT_EQ(run.peak_memory_bytes, 2147483648.0);
  EXPECT_EQ(cluster_of(imported, "torchtitan-x").type_name(DeviceId{0}), "H100-SXM-96GB");
  EXPECT_EQ(task_of(imported, "torchtitan-x").execution.precision, Precision::fp8);
  EXPECT_EQ(task_of(imported, "torchtitan-x").execution.zero_stage, 3);
}

TEST(Training, PrecisionNamesArithmetic) {
  const Imported imported = import_records({record("mbridge-a"), record("mbridge-b", {{"precision", "FP8-CS"}}),
                                            record("megatron-c", {{"precision", "FP16"}})});
  EXPECT_FALSE(task_of(imported, "mbridge-a").execution.precision.has_value());
  EXPECT_EQ(task_of(imported, "mbridge-b").execution.precision, Precision::fp8);
  EXPECT_EQ(imported.runs.workflow_of(run_named(imported, "megatron-c")).precision, Precision::fp16);
}

TEST(Training, DataParallelismFollowsFromTheRest) {
  const Imported imported = import_records({record("nemo-a")});
  EXPECT_EQ(task_of(imported, "nemo-a").data_parallel(), 4);
  EXPECT_TRUE(task_of(imported, "nemo-a").execution.sequence_parallel);
}

TEST(Training, FsdpShardsWeightsUnlessTheyAreGatheredOnceAStep) {
  Json experts = record("automodel-experts", {{"tp", 1}, {"fsdp", 8}, {"ep", 8}});
  experts["model"] = "Qwen3-30B-A3B";
  const Imported imported =
      import_records({record("mbridge-a", {{"fsdp", 4}}), record("automodel-dense", {{"fsdp", 4}}), experts});
  EXPECT_EQ(task_of(imported, "mbridge-a").execution.zero_stage, 3);
  EXPECT_EQ(task_of(imported, "automodel-dense").execution.zero_stage, 3);
  EXPECT_EQ(task_of(imported, "automodel-experts").execution.zero_stage, 1);
}

TEST(Training, LeavesOutWhatItCannotTell) {
  Json no_micro_batch = record("mbridge-micro");
  no_micro_batch["config"].erase("micro_batch");
  Json unknown_gpu = record("mbridge-gpu");
  unknown_gpu["hardware"]["gpu"] = "Z80";
  Json unknown_model = record("mbridge-model");
  unknown_model["model"] = "Lama-9B";
  const Imported imported = import_records(
      {no_micro_batch, unknown_gpu, unknown_model, record("other-a"), record("mbridge-knob", {{"turbo", true}}),
       record("mbridge-time", Json::object(), {{"tflops_per_gpu", 400}}), record("mbridge-dp", {{"dp", 8}}),
       record("mcore-x", {{"deterministic", true}}), record("automodel-fp4", {{"precision", "NVFP4"}}),
       record("mbridge-ep", {{"ep", 4}})});
  EXPECT_THAT(imported.runs.runs, IsEmpty());
  EXPECT_THAT(imported.left_out, SizeIs(10));
  EXPECT_THAT(reason_for(imported, "mbridge-micro"), HasSubstr("micro-batch is not stated"));
  EXPECT_THAT(reason_for(imported, "mbridge-gpu"), HasSubstr("Z80"));
  EXPECT_THAT(reason_for(imported, "mbridge-model"), HasSubstr("Lama-9B"));
  EXPECT_THAT(reason_for(imported, "other-a"), HasSubstr("\"other\""));
  EXPECT_THAT(reason_for(imported, "mbridge-knob"), HasSubstr("\"turbo\""));
  EXPECT_THAT(reason_for(imported, "mbridge-time"), HasSubstr("throughput"));
  EXPECT_THAT(reason_for(imported, "mbridge-dp"), HasSubstr("8 x 1 x 2 x 1 are not the 8 GPUs"));
  EXPECT_THAT(reason_for(imported, "mcore-x"), HasSubstr("deterministic"));
  EXPECT_THAT(reason_for(imported, "automodel-fp4"), HasSubstr("no rate of fp4"));
  EXPECT_THAT(reason_for(imported, "mbridge-ep"), HasSubstr("no experts"));
}

TEST(Training, RefusesWhatIsNotOfTheForm) {
  const auto refusal = [](const std::vector<Json>& records) {
    return refusal_of([&] { (void)import_records(records); });
  };
  EXPECT_THAT(refusal_of([&] { (void)import_records({}, "sextant.runs/1.0"); }), HasSubstr("/schema"));
  Json misspelt = record("mbridge-a");
  misspelt["modle"] = "x";
  EXPECT_THAT(refusal({misspelt}), HasSubstr("training.json: /records/0"));
  EXPECT_THAT(refusal({record("mbridge-a", {{"tp", -1}})}), HasSubstr("/records/0/config/tp"));
  EXPECT_THAT(refusal({record("prime-a", {{"activation_recompute", "some"}})}),
              HasSubstr("/records/0/config/activation_recompute"));
  EXPECT_THAT(refusal({record("mbridge-a"), record("mbridge-a", {{"tp", 1}})}), HasSubstr("mbridge-a"));
}

}  // namespace
}  // namespace sextant
