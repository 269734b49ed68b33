// The runs of generation: BLIS, aiconfigurator, and the collection of many sources.
#include <gmock/gmock.h>

#include "tests/lab/convert/published_runs.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

const PublishedRuns& blis() {
  static const PublishedRuns runs("blis");
  return runs;
}

const PublishedRuns& aiconfigurator() {
  static const PublishedRuns runs("aiconfigurator");
  return runs;
}

const PublishedRuns& served() {
  static const PublishedRuns runs("generation");
  return runs;
}

TEST(BlisRuns, TakePromptsForCachedAndLeaveBlankSettingsUnstated) {
  EXPECT_THAT(blis().count_by_framework(), ElementsAre(Pair("vllm", 59)));
  for (const sextant::Run& run : blis().all().runs) {
    EXPECT_TRUE(blis().generation(run.name).execution.shared_prompts) << run.name;
    EXPECT_THAT(run.notes.at("in flight"), HasSubstr("Little's law"));
    for (const Unstated& unstated : run.unstated) {
      EXPECT_EQ(unstated.deviation, unstated.quantity == UnstatedQuantity::memory_share ? 0.05 : 0.7);
    }
  }
}

TEST(AiconfiguratorRuns, AreOfThreeEngines) {
  EXPECT_THAT(aiconfigurator().all().runs, SizeIs(963));
  EXPECT_THAT(aiconfigurator().count_by_framework(), SizeIs(3));
}

// Kept out of every fit: they show how well an architecture is predicted that no fit has seen.
TEST(LinearAttentionRuns, AreOfOneModelOnThreeTypesOfGpu) {
  const PublishedRuns runs("linear_attention");
  EXPECT_THAT(runs.all().runs, SizeIs(140));
  std::map<std::string, int> gpus;
  for (const sextant::Run& run : runs.all().runs) {
    EXPECT_TRUE(runs.all().workflow_of(run).models.at("actor").linear_attention.has_value()) << run.name;
    ++gpus[run.notes.at("gpu")];
  }
  EXPECT_THAT(gpus, SizeIs(3));
}

// Their scripts say that the settings are another GPU's, and measure a server that has served nothing yet.
TEST(AiconfiguratorRuns, HoldNoColdServers) {
  int of_others = 0;
  for (const sextant::Run& run : aiconfigurator().all().runs) {
    EXPECT_FALSE(run.name.starts_with("dsr1_b300_sglang")) << run.name;
    of_others += run.notes.at("gpu") == "B300-SXM" ? 1 : 0;
  }
  EXPECT_GT(of_others, 20);
}

// Groups that more than one type of GPU shared would tell of a type that is left out.
TEST(AiconfiguratorRuns, ShareSettingsWithinOneTypeOfGpu) {
  std::map<std::string, std::string> type_of_group;
  for (const sextant::Run& run : aiconfigurator().all().runs) {
    for (const auto& [quantity, group] : unstated_groups(run)) {
      EXPECT_EQ(type_of_group.emplace(group, run.notes.at("gpu")).first->second, run.notes.at("gpu")) << group;
    }
  }
  EXPECT_GT(type_of_group.size(), 10U);
}

TEST(GenerationRuns, OfBuiltEnginesAreStaticBatches) {
  EXPECT_THAT(served().all().runs, SizeIs(298));
  const std::string name = "trtllm09-h200-fp8-gpt-j-6b-b1024-i128-o128";
  EXPECT_EQ(served().run(name).framework, "tensorrt-llm-0.9");
  EXPECT_DOUBLE_EQ(served().run(name).iteration.samples_s.front(), 1024 * 128 / 27304.0);
  EXPECT_EQ(served().workflow(name).sequences(), 1024);
  const TaskPlan& plan = served().generation(name);
  EXPECT_EQ(plan.micro_batch_sequences, 1024);
  EXPECT_FALSE(plan.execution.continuous_batching || plan.execution.cuda_graphs);
  EXPECT_EQ(plan.execution.kv_cache_bytes, 0);
  EXPECT_EQ(plan.execution.cache_precision, Precision::fp8);
}

TEST(GenerationRuns, OfFirstTokenTimesHaveResponsesOfOneToken) {
  const std::string name = "trtllm061-ttft-a100-llama-2-70b-i2048";
  EXPECT_DOUBLE_EQ(served().run(name).iteration.samples_s.front(), 0.377);
  EXPECT_EQ(served().workflow(name).response_tokens, fixed_length(1));
  EXPECT_EQ(served().generation(name).execution.cache_precision, std::nullopt);  // 16 bits throughout
}

TEST(GenerationRuns, OfOfflineTablesHaveAllRequestsAtOnce) {
  const std::string name = "trtllm10-h200-fp8-llama-3-1-8b-tp1-i128-o128";
  EXPECT_EQ(served().workflow(name).sequences(), 30000);
  EXPECT_DOUBLE_EQ(served().run(name).iteration.samples_s.front(), 137.58);
  const TaskPlan& plan = served().generation(name);
  EXPECT_TRUE(plan.execution.continuous_batching);
  EXPECT_EQ(plan.decode_batch_sequences, 2048);
  const double memory_bytes = served().cluster(name).device_types().begin()->second.memory_bytes.value;
  EXPECT_DOUBLE_EQ(plan.execution.kv_cache_bytes, 0.9 * memory_bytes - served().model(name).parameters());
}

TEST(GenerationRuns, SpreadAttentionOfTensorRtLlmsExpertModels) {
  const TaskPlan& plan = served().generation("trtllm10-h200-fp8-qwen3-235b-a22b-tp8-i1000-o1000");
  EXPECT_EQ(plan.data_parallel(), 8);
  EXPECT_EQ(tensor_parallel(plan), 1);
  EXPECT_EQ(plan.execution.expert_parallel, 8);
}

TEST(GenerationRuns, SplitLayersOfTransformersOverItsGpus) {
  const TaskPlan& plan = served().generation("qwen25docs-a100-qwen2-5-72b-instruct-hf-i1");
  EXPECT_EQ(plan.replicas.front().pipeline_parallel(), 2);
  EXPECT_EQ(tensor_parallel(plan), 1);
  EXPECT_FALSE(plan.execution.cuda_graphs || plan.execution.continuous_batching);
}

TEST(GenerationRuns, TellEnginesOfOneNameApart) {
  EXPECT_EQ(served().run("qwen25docs-a100-qwen2-5-0-5b-instruct-vllm-i1").framework, "vllm-0.6");
  EXPECT_EQ(served().run("qwen3docs-h20-qwen3-0-6b-sglang-bf16-i1").framework, "sglang");
  EXPECT_EQ(served().run("lmdeploy-a100-llama2-7b-b16-i1-o128").framework, "lmdeploy");
}

// No more than what the page does not say and an engine with such a setting could do otherwise.
TEST(GenerationRuns, DeclareSettingsOfTheEngineUnstated) {
  using enum UnstatedQuantity;
  const std::string offline = "TensorRT-LLM v1.0 performance overview, TensorRT-LLM 1.0 on H200-SXM-141GB";
  EXPECT_THAT(unstated_groups(served().run("trtllm10-h200-fp8-llama-3-1-8b-tp1-i128-o128")),
              ElementsAre(Pair(decode_batch_sequences, offline), Pair(memory_share, offline),
                          Pair(prefill_chunk_tokens, offline)));
  const std::string single = "Qwen3 documentation: speed benchmark, SGLang 0.4.6.post1 on H20-96GB";
  EXPECT_THAT(unstated_groups(served().run("qwen3docs-h20-qwen3-0-6b-sglang-bf16-i1")),
              ElementsAre(Pair(memory_share, single), Pair(prefill_chunk_tokens, single)));
  EXPECT_TRUE(served().run("trtllm09-h200-fp8-gpt-j-6b-b1024-i128-o128").unstated.empty());
  EXPECT_TRUE(served().run("qwen25docs-a100-qwen2-5-72b-instruct-hf-i1").unstated.empty());
}

}  // namespace
}  // namespace sextant
