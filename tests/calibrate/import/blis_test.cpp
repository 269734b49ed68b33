#include "calibrate/import/tables/blis.h"

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

constexpr const char* kColumns =
    "experiment_id,stage,model,gpu_type,gpu_count,tp,dp,precision,max_num_batched_tokens,max_num_seqs,"
    "gpu_memory_utilization,system_prompt_tokens_nominal,question_tokens_nominal,prompt_tokens_mean,"
    "output_tokens_mean,request_rate_per_s,request_rate_source,e2e_mean_s,overloaded,source,notes\n";

Imported read_rows(const std::string& rows) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "runs.csv", kColumns + rows);
  return read_blis({folder.path() / "runs.csv"}, carried_facts());
}

std::string reason_against(const std::string& row) {
  const Imported imported = read_rows(row);
  EXPECT_TRUE(imported.runs.runs.empty());
  return imported.left_out.empty() ? "" : imported.left_out.front().reason;
}

TEST(BlisTest, AccountsForEveryCarriedRow) {
  const Imported imported = read_blis({carried_file("blis/runs.csv")}, carried_facts());
  EXPECT_EQ(imported.runs.runs.size(), 59U);
  EXPECT_TRUE(imported.left_out.empty());
  EXPECT_EQ(Runs::parse(JsonView(imported.runs.to_json())), imported.runs);
}

TEST(BlisTest, CountsRequestsInFlightByLittlesLaw) {
  const Imported imported = read_rows(
      "x,0,meta-llama/Llama-2-70b-hf,H100,4,4,1,FP16,2048,128,0.9,100,466,593.5,245,10,known,4.74,0,here,\n");
  const sextant::Run& run = run_named(imported, "x/0");
  EXPECT_EQ(run.framework, "vllm");
  EXPECT_DOUBLE_EQ(run.iteration.samples_s.front(), 4.74);
  EXPECT_EQ(workflow_of(imported, "x/0").sequences(), 47);
  EXPECT_EQ(workflow_of(imported, "x/0").prompt_tokens, fixed_length(593.5));
  EXPECT_EQ(workflow_of(imported, "x/0").response_tokens, fixed_length(245));
  const TaskPlan& plan = plan_of(imported, "x/0");
  EXPECT_EQ(tensor_parallel(plan), 4);
  EXPECT_EQ(plan.decode_batch_sequences, 128);
  EXPECT_EQ(plan.execution.prefill_chunk_tokens, 2048);
  EXPECT_THAT(run.notes.at("in flight"), HasSubstr("Little"));
}

TEST(BlisTest, TakesPromptsForCached) {
  const Imported imported =
      read_rows("x,0,meta-llama/Llama-2-7b-hf,H100,1,1,1,FP16,2048,,,100,900,,200,0.25,known,1.4,0,here,\n");
  EXPECT_EQ(workflow_of(imported, "x/0").sequences(), 1);  // at least one
  EXPECT_EQ(workflow_of(imported, "x/0").prompt_tokens, fixed_length(1045));
  EXPECT_TRUE(plan_of(imported, "x/0").execution.shared_prompts);
  EXPECT_THAT(run_named(imported, "x/0").notes.at("prefix caching"), HasSubstr("hit rate not stated"));
}

TEST(BlisTest, DeclaresBlankSettingsUnstated) {
  using enum UnstatedQuantity;
  const std::string start = "x,0,meta-llama/Llama-2-7b-hf,H100,1,1,1,FP16,",
                    end = ",100,900,,200,0.25,known,1.4,0,repository@c0ffee a/file,\n";
  const auto read = [&](const std::string& settings) { return read_rows(start + settings + end); };
  EXPECT_TRUE(run_named(read("2048,128,0.9"), "x/0").unstated.empty());
  const Imported blank = read(",,");
  const std::string group = "BLIS, repository@c0ffee on H100-SXM-80GB";
  EXPECT_THAT(unstated_groups(run_named(blank, "x/0")),
              ElementsAre(Pair(decode_batch_sequences, group), Pair(memory_share, group),
                          Pair(prefill_chunk_tokens, group)));
  EXPECT_EQ(plan_of(blank, "x/0").decode_batch_sequences, 256);
  EXPECT_THAT(unstated_groups(run_named(read("2048,128,"), "x/0")), ElementsAre(Pair(memory_share, group)));
  for (const Unstated& unstated : run_named(blank, "x/0").unstated) {
    EXPECT_DOUBLE_EQ(unstated.deviation, unstated.quantity == memory_share ? 0.05 : 0.7);
  }
}

TEST(BlisTest, LeavesOutWhatIsNoSteadyLoad) {
  const std::string end = ",meta-llama/Llama-2-7b-hf,H100,1,1,1,FP16,2048,,,100,900,,200,1,known,0.4,";
  EXPECT_THAT(reason_against("x,all" + end + "0,here,\n"), HasSubstr("summary"));
  EXPECT_THAT(reason_against("x,0" + end + "1,here,\n"), HasSubstr("overloaded"));
  EXPECT_THAT(reason_against("x,0" + end + "0,here,measured again\n"), HasSubstr("measured again"));
  EXPECT_THAT(reason_against("x,0,nobody/Unknown,H100,1,1,1,FP16,,,,1,1,,2,1,known,0.4,0,here,\n"),
              HasSubstr("the shape of model"));
  EXPECT_THAT(reason_against("x,0,meta-llama/Llama-2-7b-hf,H100,4,2,1,FP16,,,,1,1,,2,1,known,0.4,0,here,\n"),
              HasSubstr("tp x dp"));
}

TEST(BlisTest, RefusesBadInput) {
  const std::string start = "x,0,meta-llama/Llama-2-7b-hf,H100,1,1,1,";
  EXPECT_THAT(refusal_of([&] { (void)read_rows(start + "FP6,,,,1,1,,2,1,known,0.4,0,here,\n"); }),
              HasSubstr("runs.csv:2: column \"precision\""));
  EXPECT_THAT(refusal_of([&] { (void)read_rows(start + "FP16,,,,1,1,,2,,known,0.4,0,here,\n"); }),
              HasSubstr("column \"request_rate_per_s\""));
  EXPECT_THAT(refusal_of([&] { (void)read_rows(start + "FP16,,,,1,1,,2,1,known,0.4,maybe,here,\n"); }),
              HasSubstr("column \"overloaded\""));
}

}  // namespace
}  // namespace sextant
