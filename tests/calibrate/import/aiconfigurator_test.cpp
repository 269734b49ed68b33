#include "calibrate/import/tables/aiconfigurator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/calibrate/import/generation_cases.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

using Cells = std::map<std::string, std::string>;

// A row that is of use: DeepSeek on 8 H200.
Cells usual_row() {
  return {{"record_id", "row"},
          {"measurement_id", "m1"},
          {"model", "deepseek-ai/DeepSeek-R1"},
          {"gpu_type", "h200_sxm"},
          {"backend", "trtllm"},
          {"backend_version", "1.1"},
          {"measured_date", ""},
          {"work_in_progress", "0"},
          {"serving_mode", "aggregated"},
          {"precision", "fp8"},
          {"input_tokens", "1024"},
          {"output_tokens", "101"},
          {"concurrency", "64"},
          {"batch_size", "64"},
          {"tp", "8"},
          {"pp", "1"},
          {"attention_dp", ""},
          {"moe_tp", "8"},
          {"moe_ep", "1"},
          {"label_tp", ""},
          {"ttft_s", "0.5"},
          {"tpot_s", "0.02"}};
}

std::string table_of(const std::vector<Cells>& rows) {
  std::string out;
  for (const auto& [column, cell] : rows.front()) out += (out.empty() ? "" : ",") + column;
  for (const Cells& row : rows) {
    std::string line;
    for (const auto& [column, cell] : row) line += (column == row.begin()->first ? "" : ",") + cell;
    out += "\n" + line;
  }
  return out + "\n";
}

Imported read_rows(const std::vector<Cells>& rows) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "rows.csv", table_of(rows));
  return read_aiconfigurator({folder.path() / "rows.csv"}, carried_facts());
}

Imported read_row(const Cells& changes) {
  Cells row = usual_row();
  for (const auto& [column, cell] : changes) row[column] = cell;
  return read_rows({row});
}

std::string reason_against(const Cells& changes) {
  const Imported imported = read_row(changes);
  EXPECT_TRUE(imported.runs.runs.empty());
  return imported.left_out.empty() ? "" : imported.left_out.front().reason;
}

// "tp x dp, experts tp x ep" of the run that a row becomes.
std::string sizes_with(const Cells& changes) {
  const Imported imported = read_row(changes);
  if (imported.runs.runs.empty()) return imported.left_out.front().reason;
  const TaskPlan& plan = plan_of(imported, "row");
  return std::to_string(tensor_parallel(plan)) + " x " + std::to_string(plan.data_parallel()) + ", " +
         std::to_string(plan.execution.expert_tensor_parallel) + " x " +
         std::to_string(plan.execution.expert_parallel);
}

const Imported& carried() {
  static const Imported imported =
      read_aiconfigurator({carried_file("aiconfigurator/silicon_runs.csv")}, carried_facts());
  return imported;
}

TEST(AiconfiguratorTest, AccountsForEveryCarriedRow) {
  EXPECT_EQ(carried().runs.runs.size(), 994U);
  EXPECT_EQ(carried().left_out.size(), 1247U);
  EXPECT_THAT(
      count_by_reason(carried()),
      ElementsAre(
          Pair("a measurement that is listed before", 162),
          Pair("batch size x attention data parallelism is not the concurrency", 6), Pair("overloaded", 16),
          Pair("parallel sizes of attention and of experts make up different numbers of GPUs", 19),
          Pair("parallel sizes of more GPUs than one worker has", 53), Pair("speculative decoding (mtp)", 42),
          Pair("the concurrency is not stated", 8), Pair("the precision is not stated", 351),
          Pair("the shape of model", 403), Pair("the source marks it unfinished", 187)));
}

TEST(AiconfiguratorTest, MakesADocument) {
  EXPECT_EQ(Runs::parse(JsonView(carried().runs.to_json())), carried().runs);
}

TEST(AiconfiguratorTest, ReadsAClosedLoop) {
  const Imported imported = read_row({});
  const sextant::Run& run = run_named(imported, "row");
  EXPECT_EQ(run.framework, "tensorrt-llm");
  EXPECT_DOUBLE_EQ(run.iteration.samples_s.front(), 0.5 + 100 * 0.02);
  EXPECT_EQ(workflow_of(imported, "row").sequences(), 64);
  EXPECT_EQ(workflow_of(imported, "row").response_tokens, fixed_length(101));
  const Execution& execution = plan_of(imported, "row").execution;
  EXPECT_TRUE(execution.continuous_batching && execution.cuda_graphs && execution.fused_attention);
  EXPECT_EQ(execution.precision, Precision::fp8);
  EXPECT_EQ(execution.cache_precision, std::nullopt);
  EXPECT_EQ(execution.prefill_chunk_tokens, 8192);
  EXPECT_THAT(run.notes.at("left unsaid"), HasSubstr("prefix caching"));
}

TEST(AiconfiguratorTest, ReadsWhatTheBenchmarksScriptsSay) {
  const Imported imported = read_row({{"cache_precision", "fp8"},
                                      {"prefill_tokens", "2048"},
                                      {"input_tokens_mean", "921.5"},
                                      {"output_tokens_mean", "91"},
                                      {"launch_script", "a.sh"}});
  const Execution& execution = plan_of(imported, "row").execution;
  EXPECT_EQ(execution.cache_precision, Precision::fp8);
  EXPECT_EQ(execution.prefill_chunk_tokens, 2048);
  EXPECT_EQ(workflow_of(imported, "row").prompt_tokens, fixed_length(921.5));
  EXPECT_DOUBLE_EQ(run_named(imported, "row").iteration.samples_s.front(), 0.5 + 90 * 0.02);
  EXPECT_THAT(run_named(imported, "row").notes.at("left unsaid"),
              AllOf(Not(HasSubstr("prefix caching")), Not(HasSubstr("prefill chunks")),
                    HasSubstr("share of the memory")));
}

TEST(AiconfiguratorTest, DeclaresUnstatedByWhoMadeTheSettings) {
  using enum UnstatedQuantity;
  const auto groups = [](const Cells& changes) { return unstated_groups(run_named(read_row(changes), "row")); };
  const std::string unnamed = "InferenceX, deepseek-ai/DeepSeek-R1 fp8 on h200_sxm by trtllm";
  EXPECT_THAT(groups({}), ElementsAre(Pair(memory_share, unnamed), Pair(prefill_chunk_tokens, unnamed)));
  const std::string dump = "gap-analysis/h200_sxm/trtllm/1.1/r1.csv";
  EXPECT_THAT(groups({{"source_dump", dump}}),
              ElementsAre(Pair(memory_share, "aiconfigurator, " + dump),
                          Pair(prefill_chunk_tokens, "aiconfigurator, " + dump)));
  EXPECT_THAT(groups({{"source_dump", dump}, {"launch_script", "a"}, {"prefill_tokens", "2048"}}),
              ElementsAre(Pair(memory_share, "InferenceX, a")));
}

// Groups that more than one type of GPU shared would tell of a type that is left out.
TEST(AiconfiguratorTest, GroupsAreOfOneTypeOfGpu) {
  std::map<std::string, std::string> type_of_group;
  for (const sextant::Run& run : carried().runs.runs) {
    for (const auto& [quantity, group] : unstated_groups(run)) {
      EXPECT_EQ(type_of_group.emplace(group, run.notes.at("gpu")).first->second, run.notes.at("gpu")) << group;
    }
  }
  EXPECT_GT(type_of_group.size(), 10U);
}

TEST(AiconfiguratorTest, TakesSizesAsRecordedWhereTheyAgree) {
  EXPECT_EQ(sizes_with({}), "8 x 1, 0 x 1");
  EXPECT_EQ(sizes_with({{"moe_tp", "1"}, {"moe_ep", "8"}}), "8 x 1, 1 x 8");
  EXPECT_EQ(sizes_with({{"moe_tp", "2"}, {"moe_ep", "4"}}), "8 x 1, 2 x 4");
  EXPECT_EQ(
      sizes_with({{"tp", "1"}, {"attention_dp", "8"}, {"batch_size", "8"}, {"moe_tp", "1"}, {"moe_ep", "8"}}),
      "1 x 8, 1 x 8");
}

TEST(AiconfiguratorTest, UndoesProductsOfSizes) {
  EXPECT_EQ(sizes_with({{"tp", "64"}, {"moe_ep", "8"}}), "8 x 1, 1 x 8");
  EXPECT_EQ(sizes_with({{"tp", "64"}, {"moe_ep", "8"}, {"label_tp", "8"}}), "8 x 1, 1 x 8");
  EXPECT_EQ(sizes_with({{"tp", "1"}, {"attention_dp", "64"}, {"batch_size", "1"}, {"moe_ep", "8"}}),
            "1 x 8, 1 x 8");
  EXPECT_EQ(
      sizes_with({{"tp", "8"}, {"attention_dp", "8"}, {"batch_size", "8"}, {"moe_tp", "1"}, {"moe_ep", "64"}}),
      "8 x 1, 1 x 8");
}

TEST(AiconfiguratorTest, BelievesALabelThatNamesTheRecordedSize) {
  const Cells square{{"model", "gpt-oss-120b"}, {"tp", "4"}, {"moe_tp", "2"}, {"moe_ep", "2"}};
  EXPECT_EQ(sizes_with(square), "2 x 1, 1 x 2");
  Cells labelled = square;
  labelled["label_tp"] = "4";
  EXPECT_EQ(sizes_with(labelled), "4 x 1, 2 x 2");
}

TEST(AiconfiguratorTest, PrefersTheSizesAsLaunched) {
  EXPECT_EQ(sizes_with({{"launched_tp", "1"},
                        {"launched_attention_dp", "8"},
                        {"launched_moe_tp", "1"},
                        {"launched_moe_ep", "8"}}),
            "1 x 8, 1 x 8");
}

TEST(AiconfiguratorTest, LooksAtExpertsOfModelsThatHaveThemOnly) {
  EXPECT_EQ(sizes_with({{"model", "meta-llama/Llama-3.1-70B"}, {"moe_tp", "1"}, {"moe_ep", "0"}}),
            "8 x 1, 0 x 1");
}

TEST(AiconfiguratorTest, LeavesOutWhatIsNoClosedLoopOfOneWorker) {
  EXPECT_THAT(reason_against({{"serving_mode", "disaggregated"}}), HasSubstr("disaggregated"));
  EXPECT_THAT(reason_against({{"tp", "72"}, {"moe_tp", "72"}}), HasSubstr("whole deployment"));
  EXPECT_THAT(reason_against({{"moe_tp", "4"}}), HasSubstr("different numbers of GPUs"));
  EXPECT_THAT(reason_against({{"pp", "2"}}), HasSubstr("pipeline"));
  EXPECT_THAT(reason_against({{"batch_size", "16"}}), HasSubstr("is not the concurrency"));
  EXPECT_THAT(reason_against({{"ttft_s", "2.01"}}), HasSubstr("overloaded"));  // 100 x 0.02 s of decoding
  EXPECT_THAT(reason_against({{"speculative_decoding", "mtp"}}), HasSubstr("more than one token"));
}

TEST(AiconfiguratorTest, LeavesOutWhatIsNotStated) {
  EXPECT_THAT(reason_against({{"work_in_progress", "1"}}), HasSubstr("unfinished"));
  EXPECT_THAT(reason_against({{"precision", ""}}), HasSubstr("precision"));
  EXPECT_THAT(reason_against({{"concurrency", ""}}), HasSubstr("concurrency"));
  EXPECT_THAT(reason_against({{"model", "zhipuai/GLM-5"}}), HasSubstr("the shape of model"));
  EXPECT_THAT(reason_against({{"gpu_type", "abacus"}}), HasSubstr("abacus"));
}

TEST(AiconfiguratorTest, ReadsAMeasurementOnceFromTheRowWhoseLabelNamesItsSizes) {
  Cells unlabelled = usual_row(), labelled = usual_row(), useless = usual_row();
  unlabelled["record_id"] = "unlabelled";
  labelled["label_tp"] = "8";
  useless["record_id"] = "useless";
  useless["precision"] = "";
  const Imported imported = read_rows({useless, unlabelled, labelled});
  ASSERT_EQ(imported.runs.runs.size(), 1U);
  EXPECT_EQ(imported.runs.runs.front().name, "row");
  EXPECT_THAT(count_by_reason(imported), ElementsAre(Pair("a measurement that is listed before", 1),
                                                     Pair("the precision is not stated", 1)));
}

TEST(AiconfiguratorTest, RefusesBadInput) {
  EXPECT_THAT(refusal_of([] {
                (void)read_row({{"backend", "abacus"}});
              }),
              HasSubstr("rows.csv:2: column \"backend\""));
  EXPECT_THAT(refusal_of([] { (void)read_row({{"precision", "fp6"}}); }), HasSubstr("column \"precision\""));
  EXPECT_THAT(refusal_of([] { (void)read_row({{"tpot_s", "-1"}}); }), HasSubstr("column \"tpot_s\""));
  EXPECT_THAT(refusal_of([] {
                (void)read_row({{"cache_precision", "?"}});
              }),
              HasSubstr("column \"cache_precision\""));
  Cells row = usual_row();
  row.erase("tpot_s");
  EXPECT_THAT(refusal_of([&row] { (void)read_rows({row}); }), HasSubstr("tpot_s"));
}

}  // namespace
}  // namespace sextant
