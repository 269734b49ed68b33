#include "calibrate/import/published/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibrate/import/records/measured_iteration.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/calibrate/import/generation_cases.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

const Imported& carried() {
  static const Imported imported = read_published({carried_file("rl/runs.json")}, carried_facts());
  return imported;
}

const TaskPlan& task_of(const std::string& run_name, const std::string& task) {
  return carried().runs.plan_of(run_named(carried(), run_name)).tasks.at(task);
}

int first_device(const TaskPlan& task) { return task.replicas.front().stages.front().devices.front().value; }

std::string reason_of(const std::string& record) {
  for (const LeftOut& left_out : carried().left_out) {
    if (left_out.record == record) return left_out.reason;
  }
  return "";
}

Json usual_record() {
  return {{"id", "record"},
          {"source", {{"title", "a page"}, {"location", "somewhere"}, {"table_or_section", "a table"}}},
          {"hardware", {{"gpu", "H100"}, {"gpus", 16}}},
          {"workload",
           {{"algorithm", "GRPO"},
            {"synchrony", "sync"},
            {"framework", "NeMo RL v0.6"},
            {"train_backend", "Megatron Core"},
            {"actor_model", "Llama-3.1-8B"},
            {"reference_model", "Llama-3.1-8B"},
            {"prompts", 64},
            {"responses_per_prompt", 8},
            {"response_tokens_mean", 1000},
            {"max_response_tokens", 4096},
            {"activation_recompute", true}}},
          {"plan",
           {{"actor_gen", {{"tp", 2}}},
            {"actor_train", {{"tp", 2}, {"pp", 2}, {"dp", 4}}},
            {"old_logp_inf", {{"micro_batch_size", 2}}}}},
          {"measured", {{"iteration_s", 50}}},
          {"notes", ""},
          {"grade", "A"},
          {"missing", Json::array()}};
}

Imported read_document(const Json& document) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "records.json", format_json(document));
  return read_published({folder.path() / "records.json"}, carried_facts());
}

Imported read_record(const Json& record) {
  return read_document({{"schema", "sextant.published.runs/1"}, {"records", Json::array({record})}});
}

std::string reason_against(const Json& record) {
  const Imported imported = read_record(record);
  EXPECT_TRUE(imported.runs.runs.empty());
  return imported.left_out.empty() ? "" : imported.left_out.front().reason;
}

TEST(PublishedTest, AccountsForEveryCarriedRecord) {
  EXPECT_EQ(carried().runs.runs.size(), 69U);
  EXPECT_EQ(carried().left_out.size(), 73U);
  std::map<std::string, int> frameworks;
  for (const auto& run : carried().runs.runs) ++frameworks[run.framework];
  EXPECT_EQ(frameworks, (std::map<std::string, int>{{"deepspeed-chat", 2},
                                                    {"nemo-rl", 32},
                                                    {"openrlhf", 5},
                                                    {"real", 8},
                                                    {"rlinf", 1},
                                                    {"skyrl", 1},
                                                    {"verl-fsdp", 9},
                                                    {"verl-fsdp-v0", 7},
                                                    {"verl-megatron", 4}}));
  EXPECT_EQ(count_by_reason(carried()),
            (std::map<std::string, int>{{"no facts about GPU", 3},
                                        {"not stated", 62},
                                        {"the same run as verl-fullyasync-h20-7b-async-128", 1},
                                        {"the shape of model", 4},
                                        {"the whole log of this run is in verl/deepseek7b-grpo-mi300x.json", 1},
                                        {"the whole log of this run is in verl/qwen2-7b-fsdp.json", 1},
                                        {"the whole log of this run is in verl/qwen2-7b-megatron.json", 1}}));
}

TEST(PublishedTest, IsADocumentThatCanBeRead) {
  const Json json = carried().runs.to_json();
  EXPECT_EQ(Runs::parse(JsonView(json)), carried().runs);
}

// The mean of the lengths is the stated one, whatever the limit cuts off.
TEST(PublishedTest, KeepsTheStatedMeanOfResponses) {
  EXPECT_NEAR(
      workflow_of(carried(), "nemo-rl-v0.4-h100-grpo-qwen3-32b-32gpu-0off-bf16").response_tokens.mean_tokens(),
      3206, 0.1);
  EXPECT_NEAR(workflow_of(carried(), "verl-log-lora-math-qwen2.5-0.5b-2gpu").response_tokens.mean_tokens(),
              402.619, 0.01);
}

TEST(PublishedTest, ReadsReaLWithItsOwnKnobs) {
  const std::string name = "real-7b7b-searched-cudagraph";
  const Workflow& workflow = workflow_of(carried(), name);
  EXPECT_EQ(workflow.algorithm, Algorithm::ppo);
  EXPECT_EQ(workflow.response_tokens, fixed_length(1024));
  EXPECT_EQ(workflow.mini_batches, 8);
  const TaskPlan& generation = task_of(name, "actor_generation");
  EXPECT_EQ(generation.execution.semantics, "real");
  EXPECT_EQ(generation.execution.micro_batches, 1);
  EXPECT_EQ(generation.decode_batch_sequences,
            0);  // its semantics cut the 128 of a replica into as many parts as stages
  EXPECT_TRUE(generation.execution.cuda_graphs);
  EXPECT_EQ(first_device(task_of(name, "actor_training")), 0);
  EXPECT_EQ(first_device(task_of(name, "critic_training")), 8);  // trainer02
  EXPECT_EQ(run_named(carried(), name).tasks.size(), 6U);
}

TEST(PublishedTest, TakesTheBatchOfReaLsWeakScalingRule) {
  EXPECT_EQ(workflow_of(carried(), "real-70b7b-heuristic-cudagraph").sequences(), 4096);
}

// The rows with and without CUDA graphs print one measurement of all tasks but generation.
TEST(PublishedTest, TakesATimeOnceWhereATableRepeatsIt) {
  EXPECT_THAT(run_named(carried(), "real-7b7b-searched-nocudagraph").tasks,
              ElementsAre(Key("actor_generation")));
  EXPECT_THAT(run_named(carried(), "real-70b7b-searched-nocudagraph").tasks, IsEmpty());
  EXPECT_THAT(run_named(carried(), "real-70b7b-searched-nocudagraph").iteration.samples_s, ElementsAre(547.4));
}

TEST(PublishedTest, PlacesGenerationApartFromTraining) {
  const std::string name = "nemo-rl-v0.6-h100-grpo-qwen3-30b3a-192gpu-8off-bf16";
  EXPECT_EQ(workflow_of(carried(), name).mode, Mode::asynchronous);
  EXPECT_EQ(workflow_of(carried(), name).staleness, 8);
  EXPECT_EQ(task_of(name, "actor_training").devices().size(), 128U);
  EXPECT_EQ(first_device(task_of(name, "actor_generation")), 128);
  EXPECT_EQ(task_of(name, "old_log_prob").execution.micro_batch_tokens, 4 * 4096);
}

TEST(PublishedTest, ReadsWhatAnAsynchronousTrainerTakesAtOnce) {
  const Workflow& some_ahead = workflow_of(carried(), "verl-fullyasync-h20-7b-stale0.3-128");
  EXPECT_EQ(some_ahead.staleness, 0.3);
  EXPECT_EQ(some_ahead.streamed_parts, 4);
  const Workflow& none_ahead = workflow_of(carried(), "verl-fullyasync-h20-7b-stream-128");
  EXPECT_EQ(none_ahead.mode, Mode::asynchronous);
  EXPECT_EQ(none_ahead.staleness, 0);
  // 512 prompts, one mini-batch of 32 at a time.
  EXPECT_EQ(workflow_of(carried(), "verl-fullyasync-h20-7b-require1-128").streamed_parts, 16);
  EXPECT_EQ(workflow_of(carried(), "nemo-rl-v0.6-h100-grpo-qwen3-30b3a-192gpu-8off-bf16").streamed_parts, 1);
}

TEST(PublishedTest, ReadsUnevenStages) {
  const TaskPlan& task = task_of("nemo-rl-v0.4-h100-grpo-deepseek-v3-256gpu-0off-bf16", "reference_inference");
  std::vector<int> layers;
  for (const Stage& stage : task.replicas.front().stages) layers.push_back(stage.layers);
  EXPECT_THAT(layers, ElementsAre(3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2));
}

// Its page says 16 where its stage has 8 GPUs.
TEST(PublishedTest, HasNoMoreExpertRanksThanGpus) {
  Json record = usual_record();
  record["workload"]["actor_model"] = record["workload"]["reference_model"] = "Qwen3-30B-A3B";
  record["plan"]["actor_train"] = {{"tp", 2}, {"pp", 1}, {"dp", 8}, {"ep", 32}};
  const Imported imported = read_record(record);
  ASSERT_EQ(imported.runs.runs.size(), 1);
  const auto& run = imported.runs.runs.front();
  EXPECT_EQ(imported.runs.plan_of(run).tasks.at("actor_training").execution.expert_parallel, 16);
  EXPECT_THAT(run.notes.at("remarks"), HasSubstr("Expert parallelism 32"));
}

TEST(PublishedTest, HasAPrecisionATask) {
  const std::string name = "nemo-rl-v0.5-h100-grpo-llama3-1-8b-16gpu-1off-fp8";
  EXPECT_EQ(task_of(name, "actor_generation").execution.weight_precision, Precision::fp8);
  EXPECT_EQ(task_of(name, "actor_training").execution.precision, Precision::fp8);
  EXPECT_EQ(task_of(name, "actor_training").execution.weight_precision, Precision::bf16);
}

// Stages of trainers lie apart, a replica of an engine together; weights that cross are broadcast.
TEST(PublishedTest, PutsDevicesAndWeightsWhereTheFrameworkDoes) {
  const std::string apart = "nemo-rl-v0.6-h100-grpo-qwen3-30b3a-32gpu-1off-bf16";  // trains DP 8 x PP 2
  const Replica& pipeline = task_of(apart, "actor_training").replicas.front();
  EXPECT_EQ(pipeline.stages[0].devices.front().value, 0);
  EXPECT_EQ(pipeline.stages[1].devices.front().value, 8);
  const auto method_of = [](const std::string& run) {
    return carried().runs.plan_of(run_named(carried(), run)).weight_sync.method;
  };
  EXPECT_EQ(method_of(apart), WeightSyncMethod::broadcast);
  EXPECT_FALSE(task_of(apart, "actor_training").execution.offload_weights);
  EXPECT_TRUE(task_of(apart, "reference_inference").execution.offload_weights);
  const std::string together = "nemo-rl-v0.6-h100-grpo-qwen3-235b-128gpu-0off-bf16";
  EXPECT_EQ(method_of(together), WeightSyncMethod::shortest);
  EXPECT_TRUE(task_of(together, "actor_training").execution.offload_weights);
  EXPECT_EQ(task_of(together, "actor_generation").replicas[1].stages[0].devices.front().value, 16);
}

TEST(PublishedTest, AnswersReachTheirLimit) {
  const auto lengths_of = [](const std::string& run) {
    return carried().runs.workflow_of(run_named(carried(), run)).response_tokens;
  };
  const Lengths far = lengths_of("verl-fullyasync-h20-7b-async-128");  // 8192 answers of at most 28672
  EXPECT_NEAR(far.mean_tokens(), 1200, 1);
  EXPECT_NEAR(far.longest_of(8192), 0.95 * 28672, 30);
  EXPECT_GT(far.sigma, kUsualSigma);
  EXPECT_EQ(lengths_of("nemo-rl-v0.6-h100-grpo-qwen3-235b-128gpu-0off-bf16").sigma,
            kUsualSigma);  // at it anyway
}

TEST(PublishedTest, NamesTimersByWhatTheyCover) {
  EXPECT_THAT(run_named(carried(), "verl-log-deepseek7b-grpo-megatron-16gpu").tasks,
              UnorderedElementsAre(Key("actor_generation+weight_sync"), Key("old_log_prob"),
                                   Key("reference_inference"), Key("actor_training")));
  EXPECT_THAT(run_named(carried(), "openrlhf-bench-a800-7b-ray").tasks,
              UnorderedElementsAre(
                  Key("actor_generation+reward_inference+old_log_prob+reference_inference+critic_inference"),
                  Key("actor_training+critic_training")));
}

TEST(PublishedTest, TakesNoWaitForATask) {
  const sextant::Run& run = run_named(carried(), "verl-fullyasync-h20-7b-async-128");
  EXPECT_THAT(run.tasks, ElementsAre(Key("actor_training")));
  EXPECT_EQ(run.waits.at("actor_generation").median_s(), 33.14);
}

// Training of 313.81 s does not fit into an iteration of 294.77 s.
TEST(PublishedTest, TakesNoPartsThatAreMoreThanTheWhole) {
  EXPECT_THAT(run_named(carried(), "verl-fullyasync-h20-7b-async-32").tasks, IsEmpty());
}

TEST(PublishedTest, LeavesUnstatedWhatTheFitMayMove) {
  const sextant::Run& run = run_named(carried(), "verl-fullyasync-h20-7b-async-128");
  ASSERT_EQ(run.unstated.size(), 2U);
  EXPECT_EQ(run.unstated[0], (Unstated{UnstatedQuantity::response_tokens,
                                       "Qwen2.5-Math-7B, dapo-math-17k, at most 28672", 0.3}));
  EXPECT_EQ(run.unstated[1], (Unstated{UnstatedQuantity::recompute, "verl-fsdp", 0.5}));
}

TEST(PublishedTest, DoesWithoutGenerationWhereItsLayoutIsUnknown) {
  const sextant::Run& run = run_named(carried(), "verl-log-lora-gsm8k-qwen2.5-7b-8gpu");
  EXPECT_THAT(run.tasks,
              UnorderedElementsAre(Key("old_log_prob"), Key("reference_inference"), Key("actor_training")));
  EXPECT_TRUE(run.iteration.empty());
  EXPECT_THAT(run.notes.at("dropped"), HasSubstr("The iteration's time"));
}

TEST(PublishedTest, SaysAllThatIsMissing) {
  EXPECT_EQ(reason_of("nemo-aligner-70b-8x4"), "not stated: the GPU, the plan");
  EXPECT_EQ(reason_of("nemo-rl-v0.5-h100-dapo-deepseek-v3-512gpu-0off-bf16"),
            "not stated: which of two batches");
}

TEST(PublishedTest, FillsWhatARecordLeavesOut) {
  const Imported imported = read_record(usual_record());
  ASSERT_EQ(imported.runs.runs.size(), 1U);
  const Plan& plan = imported.runs.plan_of(imported.runs.runs.front());
  EXPECT_EQ(plan.tasks.at("actor_generation").data_parallel(), 8);
  EXPECT_EQ(plan.tasks.at("old_log_prob").micro_batch_sequences, 2);
  EXPECT_EQ(plan.tasks.at("reference_inference").data_parallel(), 4);  // as its trainer
  EXPECT_EQ(plan.tasks.at("actor_training").recompute, Recompute::full);
}

TEST(PublishedTest, LeavesOutContradictions) {
  Json record = usual_record();
  record["plan"]["actor_train"]["dp"] = 8;
  EXPECT_EQ(reason_against(record), "the degrees of actor_training make up 32 GPUs, not 16");
  record = usual_record();
  record["plan"]["actor_train"]["pp"] = 3;
  record["plan"]["actor_train"].erase("dp");
  EXPECT_THAT(reason_against(record), HasSubstr("make up 12 GPUs, not 16"));
  record = usual_record();
  record["plan"]["actor_gen"]["tp"] = 16;
  record["workload"]["actor_model"] = "Qwen2.5-7B";
  EXPECT_THAT(reason_against(record), HasSubstr("does not divide the model's 28 heads"));
}

TEST(PublishedTest, RefusesWhatIsNotOfTheForm) {
  Json record = usual_record();
  record["workload"]["promts"] = 3;
  EXPECT_THAT(refusal_of([&] { (void)read_record(record); }), HasSubstr("/records/0/workload/promts"));
  record = usual_record();
  record["workload"]["framework"] = "nobody's";
  EXPECT_THAT(refusal_of([&] { (void)read_record(record); }), HasSubstr("unknown framework"));
  EXPECT_THAT(refusal_of([&] {
                (void)read_document({{"schema", "other/1"}, {"records", Json::array()}});
              }),
              HasSubstr("sextant.published.runs/1"));
  EXPECT_THAT(
      refusal_of([&] {
        (void)read_document({{"schema", "sextant.published.runs/1"}, {"count", 2}, {"records", Json::array()}});
      }),
      HasSubstr("there are 0 records"));
}

TEST(MeasuredIterationTest, FindsLengthsWithAMean) {
  for (const double mean : {10.0, 500.0, 900.0, 980.0}) {
    EXPECT_NEAR(lengths_with_mean(mean, kUsualSigma, 1000).mean_tokens(), mean, 1e-6 * mean) << mean;
  }
  EXPECT_EQ(lengths_with_mean(1000, kUsualSigma, 1000), fixed_length(1000));
}

TEST(MeasuredIterationTest, FindsLengthsWithALongest) {
  const Lengths lengths = lengths_with_longest(200, 900, 1024, 4096);
  EXPECT_NEAR(lengths.mean_tokens(), 200, 1e-3);
  EXPECT_NEAR(lengths.longest_of(1024), 900, 1);
  EXPECT_EQ(lengths_with_longest(200, 5000, 1024, 4096), lengths_with_mean(200, kUsualSigma, 4096));
}

}  // namespace
}  // namespace sextant
