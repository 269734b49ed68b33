#include "calibrate/import/records/measured_generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/calibrate/import/generation_cases.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

// Layers of 4 x 16 weights of attention and 3 x 32 of the MLP, and 40 each in embedding and head: 400.
Model small_model() {
  Model model;
  model.name = "small";
  model.layers = 2;
  model.hidden = 4;
  model.intermediate = 8;
  model.heads = 2;
  model.kv_heads = 2;
  model.head_dim = 2;
  model.vocabulary = 10;
  return model;
}

Gpu small_gpu() {
  Gpu gpu;
  gpu.name = "small GPU";
  gpu.type.memory_bytes = assumed(1000);
  gpu.type.memory_bytes_per_s = assumed(1e4);
  gpu.type.flop_per_s = {{Precision::bf16, assumed(1e6)}, {Precision::fp8, assumed(2e6)}};
  gpu.within_node = {assumed(1e-6), assumed(1e9)};
  gpu.between_nodes = {assumed(1e-5), assumed(1e8)};
  gpu.network_bytes_per_s = 1e9;
  return gpu;
}

MeasuredGeneration small_generation() {
  MeasuredGeneration generation;
  generation.name = "small";
  generation.framework = "vllm";
  generation.gpu = small_gpu();
  generation.model = small_model();
  generation.sequences = 6;
  generation.prompt_tokens = 100;
  generation.response_tokens = 10;
  generation.batch_s = 10;
  return generation;
}

Imported imported_from(const MeasuredGeneration& generation) {
  Imported imported;
  add_measured_generation(imported, generation);
  return imported;
}

std::string reason_against(const MeasuredGeneration& generation) {
  const Imported imported = imported_from(generation);
  EXPECT_TRUE(imported.runs.runs.empty());
  return imported.left_out.empty() ? "" : imported.left_out.front().reason;
}

TEST(MeasuredGenerationTest, BecomesABatch) {
  const Imported imported = imported_from(small_generation());
  const sextant::Run& run = run_named(imported, "small");
  EXPECT_EQ(run.source, RunSource::published);
  EXPECT_EQ(run.framework, "vllm");
  EXPECT_EQ(run.iteration.samples_s, std::vector<double>{10});
  const Workflow& workflow = workflow_of(imported, "small");
  EXPECT_EQ(workflow.prompts, 6);
  EXPECT_EQ(workflow.responses_per_prompt, 1);
  EXPECT_EQ(workflow.prompt_tokens, fixed_length(100));
  EXPECT_EQ(workflow.response_tokens, fixed_length(10));
  EXPECT_EQ(plan_of(imported, "small").micro_batch_sequences, 6);
}

TEST(MeasuredGenerationTest, DealsPromptsInChunks) {
  MeasuredGeneration generation = small_generation();
  generation.execution.prefill_chunk_tokens = 250;
  EXPECT_EQ(plan_of(imported_from(generation), "small").micro_batch_sequences, 2);
  generation.execution.prefill_chunk_tokens = 50;  // less than a prompt
  EXPECT_EQ(plan_of(imported_from(generation), "small").micro_batch_sequences, 1);
  generation.execution.prefill_chunk_tokens = 5000;
  generation.degrees.data_parallel = 2;
  EXPECT_EQ(plan_of(imported_from(generation), "small").micro_batch_sequences, 3);
}

TEST(MeasuredGenerationTest, SharesOnePrompt) {
  MeasuredGeneration generation = small_generation();
  generation.are_prompts_shared = true;
  const Imported imported = imported_from(generation);
  EXPECT_EQ(workflow_of(imported, "small").prompts, 1);
  EXPECT_EQ(workflow_of(imported, "small").responses_per_prompt, 6);
  EXPECT_TRUE(plan_of(imported, "small").execution.shared_prompts);
}

TEST(MeasuredGenerationTest, LeavesIdleReplicasOff) {
  MeasuredGeneration generation = small_generation();
  generation.degrees.data_parallel = 8;
  EXPECT_EQ(plan_of(imported_from(generation), "small").data_parallel(), 6);
}

TEST(MeasuredGenerationTest, KnowsNumberFormats) {
  EXPECT_EQ(find_number_format("FP8")->stored, Precision::fp8);
  EXPECT_FALSE(find_number_format("int4")->is_for_arithmetic);
  EXPECT_FALSE(find_number_format("fp6").has_value());
  EXPECT_FALSE(find_number_format("").has_value());
}

TEST(MeasuredGenerationTest, CalculatesInTheFormatWhereTheGpuCan) {
  MeasuredGeneration generation = small_generation();
  set_number_format(generation, *find_number_format("fp8"));
  EXPECT_EQ(generation.precision, Precision::bf16);
  EXPECT_EQ(generation.execution.precision, Precision::fp8);
  EXPECT_EQ(generation.execution.weight_precision, Precision::fp8);
}

TEST(MeasuredGenerationTest, UnpacksWeightsWhereTheGpuCannotCalculateInTheirFormat) {
  for (const char* name : {"fp4", "int4"}) {
    MeasuredGeneration generation = small_generation();
    set_number_format(generation, *find_number_format(name));
    EXPECT_EQ(generation.execution.precision, std::nullopt) << name;
    EXPECT_EQ(generation.execution.weight_precision, Precision::fp4) << name;
    EXPECT_THAT(generation.notes.at("arithmetic"), HasSubstr("16 bits")) << name;
  }
}

TEST(MeasuredGenerationTest, FourBitCheckpointsOfMixturesHaveTheirExpertsInFourBits) {
  MeasuredGeneration generation = small_generation();
  generation.model.experts = Experts{4, 2, 5, 0, 0};
  set_number_format(generation, *find_number_format("fp4"));
  EXPECT_EQ(generation.execution.weight_precision, std::nullopt);
  EXPECT_EQ(generation.execution.expert_weight_precision, Precision::fp4);
  EXPECT_EQ(generation.execution.expert_precision, std::nullopt);  // no rate: 16 bits
  set_number_format(generation, *find_number_format("fp8"));
  EXPECT_EQ(generation.execution.weight_precision, Precision::fp8);  // all of it
}

TEST(MeasuredGenerationTest, TakesOneSixteenBitFormatForTheOther) {
  MeasuredGeneration generation = small_generation();
  set_number_format(generation, *find_number_format("FP16"));
  EXPECT_EQ(generation.precision, Precision::bf16);  // of which the facts have a rate
  EXPECT_EQ(generation.execution.weight_precision, std::nullopt);
}

TEST(MeasuredGenerationTest, LeavesTheCacheWhatWeightsLeave) {
  MeasuredGeneration generation = small_generation();
  generation.degrees.tensor_parallel = 2;
  set_serving(generation);
  // 0.9 x 1000 bytes - 400 weights x 2 bytes / 2 devices
  EXPECT_DOUBLE_EQ(generation.execution.kv_cache_bytes, 500);
  EXPECT_TRUE(generation.execution.continuous_batching);
  EXPECT_EQ(generation.execution.prefill_chunk_tokens, kUsualPrefillTokens);
  set_number_format(generation, *find_number_format("fp8"));
  set_serving(generation, 64, 0.5);
  EXPECT_DOUBLE_EQ(generation.execution.kv_cache_bytes, 500 - 200);
  EXPECT_EQ(generation.execution.prefill_chunk_tokens, 64);
}

TEST(MeasuredGenerationTest, SharesExpertsAmongTheirOwnRanks) {
  MeasuredGeneration generation = small_generation();
  generation.gpu.type.memory_bytes = assumed(2000);
  generation.model.experts = Experts{.count = 4, .active_per_token = 1, .intermediate = 8};
  generation.degrees.data_parallel = 2;
  generation.execution.expert_parallel = 2;
  generation.execution.expert_tensor_parallel = 1;
  const double experts = 2 * 4 * 96;  // layers x experts x weights
  const double others = generation.model.parameters() - experts;
  set_serving(generation);
  EXPECT_DOUBLE_EQ(generation.execution.kv_cache_bytes, 0.9 * 2000 - 2 * (others + experts / 2));
}

TEST(MeasuredGenerationTest, LeavesOutWeightsThatDoNotFit) {
  MeasuredGeneration generation = small_generation();
  generation.gpu.type.memory_bytes = assumed(700);  // weights: 800 bytes
  set_serving(generation);
  EXPECT_THAT(reason_against(generation), HasSubstr("no room"));
}

TEST(MeasuredGenerationTest, LeavesOutWhatIsFasterThanItsMemory) {
  MeasuredGeneration generation = small_generation();
  // 10 steps of 2 x 320 + 2 x 40 bytes at 1e4 bytes/s.
  generation.batch_s = 0.719;
  EXPECT_THAT(reason_against(generation), HasSubstr("faster than the memory"));
  generation.batch_s = 0.721;
  EXPECT_EQ(imported_from(generation).runs.runs.size(), 1U);
}

TEST(MeasuredGenerationTest, LeavesOutPlansThatCannotBeRun) {
  MeasuredGeneration generation = small_generation();
  generation.degrees.tensor_parallel = 3;
  EXPECT_THAT(reason_against(generation), HasSubstr("tensor parallelism 3"));
}

}  // namespace
}  // namespace sextant
