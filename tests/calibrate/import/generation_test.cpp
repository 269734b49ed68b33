#include "calibrate/import/published/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/calibrate/import/generation_cases.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const Imported& carried() {
  static const Imported imported =
      read_generation({carried_file("generation/generation.json")}, carried_facts());
  return imported;
}

Json usual_record() {
  return {{"id", "record"},
          {"source", {{"title", "a page"}, {"location", "somewhere"}, {"table_or_section", "a table"}}},
          {"hardware", {{"gpu", "H200"}, {"gpus", 8}}},
          {"model", "Llama-2-70B"},
          {"config",
           {{"engine", "SGLang 0.4"},
            {"precision", "FP8"},
            {"batch", 4},
            {"tp", 8},
            {"input_tokens", 100},
            {"output_tokens", 50},
            {"kind", "static batch"}}},
          {"measured", {{"output_tokens_per_s", 100}}},
          {"grade", "A"}};
}

Imported read_document(const Json& document) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "records.json", format_json(document));
  return read_generation({folder.path() / "records.json"}, carried_facts());
}

Imported read_record(const Json& record) {
  return read_document({{"schema", "sextant.published.generation/1"}, {"records", Json::array({record})}});
}

std::string reason_against(const Json& record) {
  const Imported imported = read_record(record);
  EXPECT_TRUE(imported.runs.runs.empty());
  return imported.left_out.empty() ? "" : imported.left_out.front().reason;
}

double seconds(const std::string& name) { return run_named(carried(), name).iteration.samples_s.front(); }

TEST(GenerationTest, AccountsForEveryCarriedRecord) {
  EXPECT_EQ(carried().runs.runs.size(), 298U);
  EXPECT_EQ(carried().left_out.size(), 29U);
  EXPECT_THAT(
      count_by_reason(carried()),
      ElementsAre(Pair("faster than the memory of its GPUs delivers the weights that its steps read", 1),
                  Pair("the lengths of the requests are not stated", 3),
                  Pair("the number of requests is not stated", 2), Pair("the shape of model", 23)));
}

TEST(GenerationTest, MakesADocument) {
  EXPECT_EQ(Runs::parse(JsonView(carried().runs.to_json())), carried().runs);
}

TEST(GenerationTest, ReadsStaticBatchesOfBuiltEngines) {
  const std::string name = "trtllm09-h200-fp8-gpt-j-6b-b1024-i128-o128";
  EXPECT_EQ(run_named(carried(), name).framework, "tensorrt-llm-0.9");
  EXPECT_DOUBLE_EQ(seconds(name), 1024 * 128 / 27304.0);
  EXPECT_EQ(workflow_of(carried(), name).sequences(), 1024);
  const TaskPlan& plan = plan_of(carried(), name);
  EXPECT_EQ(plan.micro_batch_sequences, 1024);
  EXPECT_FALSE(plan.execution.continuous_batching || plan.execution.cuda_graphs);
  EXPECT_EQ(plan.execution.kv_cache_bytes, 0);
  EXPECT_EQ(plan.execution.cache_precision, Precision::fp8);
}

TEST(GenerationTest, ReadsFirstTokenTimesAsResponsesOfOneToken) {
  const std::string name = "trtllm061-ttft-a100-llama-2-70b-i2048";
  EXPECT_DOUBLE_EQ(seconds(name), 0.377);
  EXPECT_EQ(workflow_of(carried(), name).response_tokens, fixed_length(1));
  EXPECT_EQ(plan_of(carried(), name).execution.cache_precision, std::nullopt);  // 16 bits throughout
}

TEST(GenerationTest, GivesOfflineTablesAllRequestsAtOnce) {
  const std::string name = "trtllm10-h200-fp8-llama-3-1-8b-tp1-i128-o128";
  EXPECT_EQ(workflow_of(carried(), name).sequences(), 30000);
  EXPECT_DOUBLE_EQ(seconds(name), 137.58);
  const TaskPlan& plan = plan_of(carried(), name);
  EXPECT_TRUE(plan.execution.continuous_batching);
  EXPECT_EQ(plan.decode_batch_sequences, 2048);
  const Model& model = carried_facts().model("Llama-3.1-8B");
  const double memory = carried_facts().gpu("H200").type.memory_bytes.value;
  EXPECT_DOUBLE_EQ(plan.execution.kv_cache_bytes, 0.9 * memory - model.parameters());
}

TEST(GenerationTest, SpreadsAttentionOfTensorRtLlmsExpertModels) {
  const TaskPlan& plan = plan_of(carried(), "trtllm10-h200-fp8-qwen3-235b-a22b-tp8-i1000-o1000");
  EXPECT_EQ(plan.data_parallel(), 8);
  EXPECT_EQ(tensor_parallel(plan), 1);
  EXPECT_EQ(plan.execution.expert_parallel, 8);
}

TEST(GenerationTest, DealsLayersOfTransformersToItsGpus) {
  const std::string name = "qwen25docs-a100-qwen2-5-72b-instruct-hf-i1";
  const TaskPlan& plan = plan_of(carried(), name);
  EXPECT_EQ(plan.replicas.front().pipeline_parallel(), 2);
  EXPECT_EQ(tensor_parallel(plan), 1);
  EXPECT_FALSE(plan.execution.cuda_graphs || plan.execution.continuous_batching);
}

TEST(GenerationTest, TellsEnginesOfOneNameApart) {
  EXPECT_EQ(run_named(carried(), "qwen25docs-a100-qwen2-5-0-5b-instruct-vllm-i1").framework, "vllm-0.6");
  EXPECT_EQ(run_named(carried(), "qwen3docs-h20-qwen3-0-6b-sglang-bf16-i1").framework, "sglang");
  EXPECT_EQ(run_named(carried(), "lmdeploy-a100-llama2-7b-b16-i1-o128").framework, "lmdeploy");
}

TEST(GenerationTest, KeepsWhatTheRecordSaysInNotes) {
  const Imported imported = read_record(usual_record());
  const sextant::Run& run = run_named(imported, "record");
  EXPECT_EQ(run.notes.at("source"), "a page, somewhere, a table");
  EXPECT_EQ(run.notes.at("grade"), "A");
  EXPECT_THAT(run.notes.at("left unsaid"), HasSubstr("prefill chunks of 8192 tokens"));
  EXPECT_DOUBLE_EQ(run.iteration.samples_s.front(), 4 * 50 / 100.0);
}

// No more than what the page does not say and an engine with such a setting could do otherwise.
TEST(GenerationTest, DeclaresSettingsOfTheEngineUnstated) {
  using enum UnstatedQuantity;
  const std::string offline = "TensorRT-LLM v1.0 performance overview, TensorRT-LLM 1.0 on H200-SXM-141GB";
  EXPECT_THAT(unstated_groups(run_named(carried(), "trtllm10-h200-fp8-llama-3-1-8b-tp1-i128-o128")),
              ElementsAre(Pair(decode_batch_sequences, offline), Pair(memory_share, offline),
                          Pair(prefill_chunk_tokens, offline)));
  const std::string single = "Qwen3 documentation: speed benchmark, SGLang 0.4.6.post1 on H20-96GB";
  EXPECT_THAT(unstated_groups(run_named(carried(), "qwen3docs-h20-qwen3-0-6b-sglang-bf16-i1")),
              ElementsAre(Pair(memory_share, single), Pair(prefill_chunk_tokens, single)));
  EXPECT_TRUE(run_named(carried(), "trtllm09-h200-fp8-gpt-j-6b-b1024-i128-o128").unstated.empty());
  EXPECT_TRUE(run_named(carried(), "qwen25docs-a100-qwen2-5-72b-instruct-hf-i1").unstated.empty());
}

TEST(GenerationTest, LeavesOutWhatIsNotStated) {
  Json record = usual_record();
  record["config"].erase("input_tokens");
  EXPECT_THAT(reason_against(record), HasSubstr("lengths"));
  record = usual_record();
  record["config"]["kind"] = "offline throughput";
  EXPECT_THAT(reason_against(record), HasSubstr("number of requests"));
  record = usual_record();
  record["measured"].erase("output_tokens_per_s");
  EXPECT_THAT(reason_against(record), HasSubstr("neither a time"));
  record = usual_record();
  record["config"]["tp"] = 4;
  EXPECT_THAT(reason_against(record), HasSubstr("number of GPUs"));
  record = usual_record();
  record["hardware"]["gpu"] = "abacus";
  EXPECT_THAT(reason_against(record), HasSubstr("abacus"));
  record = usual_record();
  record["model"] = "Hybrid Mamba 2B";
  EXPECT_THAT(reason_against(record), HasSubstr("the shape of model"));
}

TEST(GenerationTest, RefusesBadInput) {
  Json record = usual_record();
  record["config"]["engine"] = "abacus";
  EXPECT_THAT(refusal_of([&] { (void)read_record(record); }),
              HasSubstr("records.json: /records/0/config/engine: unknown engine"));
  record = usual_record();
  record["config"]["kind"] = "guess";
  EXPECT_THAT(refusal_of([&] { (void)read_record(record); }), HasSubstr("/records/0/config/kind"));
  record = usual_record();
  record["config"]["precision"] = "FP6";
  EXPECT_THAT(refusal_of([&] { (void)read_record(record); }), HasSubstr("/records/0/config/precision"));
  record = usual_record();
  record["measured"]["mood"] = 1;
  EXPECT_THAT(refusal_of([&] { (void)read_record(record); }), HasSubstr("/records/0/measured"));
  EXPECT_THAT(refusal_of([] {
                (void)read_document({{"schema", "other/1"}, {"records", Json::array()}});
              }),
              HasSubstr("/schema"));
  EXPECT_THAT(refusal_of([] {
                (void)read_document(
                    {{"schema", "sextant.published.generation/1"}, {"count", 2}, {"records", Json::array()}});
              }),
              HasSubstr("/count"));
}

}  // namespace
}  // namespace sextant
