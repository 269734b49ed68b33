// The runs of published RL iterations.
#include <gmock/gmock.h>

#include "tests/lab/convert/published_runs.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

constexpr double kUsualSigma = 0.6;  // deviation of the logarithm of lengths if the source states none

const PublishedRuns& rl() {
  static const PublishedRuns runs("rl");
  return runs;
}

TEST(RlRuns, AreOfNineFrameworks) {
  EXPECT_EQ(rl().count_by_framework(), (std::map<std::string, int>{{"deepspeed-chat", 2},
                                                                   {"nemo-rl", 40},
                                                                   {"openrlhf", 5},
                                                                   {"real", 8},
                                                                   {"rlinf", 1},
                                                                   {"skyrl", 1},
                                                                   {"verl-fsdp", 9},
                                                                   {"verl-fsdp-v0", 7},
                                                                   {"verl-megatron", 4}}));
}

// A draft model makes several tokens a step, which a plan cannot say.
TEST(RlRuns, HaveNoDraftTokens) {
  for (const sextant::Run& run : rl().all().runs) {
    EXPECT_FALSE(run.name.find("v0.7") != std::string::npos && run.notes.at("model") == "DeepSeek-V3")
        << run.name;
  }
}

TEST(RlRuns, OfNemoRlPackTensorsInBucketsOfAFiftiethOfTheMemory) {
  const auto bucket = [](const std::string& name) { return rl().plan(name).weight_sync.bucket_bytes; };
  constexpr double kMemoryOfH100 = 85029615043.0;  // data/gpus.json
  EXPECT_DOUBLE_EQ(bucket("nemo-rl-v0.7-h100-grpo-qwen3-32b-64gpu-1off-bf16"), 0.02 * kMemoryOfH100);
  EXPECT_DOUBLE_EQ(bucket("nemo-rl-v0.4-h100-grpo-qwen3-32b-32gpu-0off-bf16"), 0.02 * kMemoryOfH100);
  EXPECT_EQ(bucket("verl-log-lora-math-qwen2.5-0.5b-2gpu"), 0);
}

// From 0.7 on the recipes take the engine's log-probabilities as those of the policy.
TEST(RlRuns, OfNemoRl07HaveNoSecondPassOfThePolicyWhereTheRecipeSkipsIt) {
  const auto tasks = [](const std::string& name) { return rl().plan(name).tasks; };
  EXPECT_EQ(tasks("nemo-rl-v0.7-gb200-grpo-qwen3-32b-32gpu-1off-bf16").count("old_log_prob"), 0U);
  EXPECT_EQ(tasks("nemo-rl-v0.7-h100-grpo-qwen3-30b-a3b-192gpu-8off-bf16").count("old_log_prob"), 1U);
}

// The mean of the lengths is the stated one, whatever the limit cuts off.
TEST(RlRuns, KeepTheStatedMeanOfResponses) {
  EXPECT_NEAR(rl().workflow("nemo-rl-v0.4-h100-grpo-qwen3-32b-32gpu-0off-bf16").response_tokens.mean_tokens(),
              3206, 0.1);
  EXPECT_NEAR(rl().workflow("verl-log-lora-math-qwen2.5-0.5b-2gpu").response_tokens.mean_tokens(), 402.619,
              0.01);
}

TEST(RlRuns, OfReaLHaveItsOwnKnobs) {
  const std::string name = "real-7b7b-searched-cudagraph";
  const Workflow& workflow = rl().workflow(name);
  EXPECT_EQ(workflow.algorithm, Algorithm::ppo);
  EXPECT_EQ(workflow.response_tokens, fixed_length(1024));
  EXPECT_EQ(workflow.mini_batches, 8);
  const TaskPlan& generation = rl().generation(name);
  EXPECT_EQ(generation.execution.semantics, "real");
  EXPECT_EQ(generation.execution.micro_batches, 1);
  EXPECT_EQ(generation.decode_batch_sequences,
            0);  // its semantics cut the 128 of a replica into as many parts as stages
  EXPECT_TRUE(generation.execution.cuda_graphs);
  EXPECT_EQ(first_device(rl().training(name)), 0);
  EXPECT_EQ(first_device(rl().task(name, "critic_training")), 8);  // trainer02
  EXPECT_EQ(rl().run(name).tasks.size(), 6U);
}

TEST(RlRuns, HaveTheBatchOfReaLsWeakScalingRule) {
  EXPECT_EQ(rl().workflow("real-70b7b-heuristic-cudagraph").sequences(), 4096);
}

// The rows with and without CUDA graphs print one measurement of all tasks but generation.
TEST(RlRuns, HaveATimeOnceWhereATableRepeatsIt) {
  EXPECT_THAT(rl().run("real-7b7b-searched-nocudagraph").tasks, ElementsAre(Key("actor_generation")));
  EXPECT_THAT(rl().run("real-70b7b-searched-nocudagraph").tasks, IsEmpty());
  EXPECT_THAT(rl().run("real-70b7b-searched-nocudagraph").iteration.samples_s, ElementsAre(547.4));
}

TEST(RlRuns, PlaceGenerationApartFromTraining) {
  const std::string name = "nemo-rl-v0.6-h100-grpo-qwen3-30b3a-192gpu-8off-bf16";
  EXPECT_EQ(rl().workflow(name).mode, Mode::asynchronous);
  EXPECT_EQ(rl().workflow(name).staleness, 8);
  EXPECT_EQ(rl().training(name).devices().size(), 128U);
  EXPECT_EQ(first_device(rl().generation(name)), 128);
  EXPECT_EQ(rl().task(name, "old_log_prob").execution.micro_batch_tokens, 4 * 4096);
}

TEST(RlRuns, SayWhatAnAsynchronousTrainerTakesAtOnce) {
  const Workflow& some_ahead = rl().workflow("verl-fullyasync-h20-7b-stale0.3-128");
  EXPECT_EQ(some_ahead.staleness, 0.3);
  EXPECT_EQ(some_ahead.streamed_parts, 4);
  const Workflow& none_ahead = rl().workflow("verl-fullyasync-h20-7b-stream-128");
  EXPECT_EQ(none_ahead.mode, Mode::asynchronous);
  EXPECT_EQ(none_ahead.staleness, 0);
  // 512 prompts, one mini-batch of 32 at a time.
  EXPECT_EQ(rl().workflow("verl-fullyasync-h20-7b-require1-128").streamed_parts, 16);
  EXPECT_EQ(rl().workflow("nemo-rl-v0.6-h100-grpo-qwen3-30b3a-192gpu-8off-bf16").streamed_parts, 1);
}

TEST(RlRuns, HaveUnevenStages) {
  const TaskPlan& task =
      rl().task("nemo-rl-v0.4-h100-grpo-deepseek-v3-256gpu-0off-bf16", "reference_inference");
  std::vector<int> layers;
  for (const Stage& stage : task.replicas.front().stages) layers.push_back(stage.layers);
  EXPECT_THAT(layers, ElementsAre(3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2));
}

TEST(RlRuns, HaveAPrecisionATask) {
  const std::string name = "nemo-rl-v0.5-h100-grpo-llama3-1-8b-16gpu-1off-fp8";
  EXPECT_EQ(rl().generation(name).execution.weight_precision, Precision::fp8);
  EXPECT_EQ(rl().training(name).execution.precision, Precision::fp8);
  EXPECT_EQ(rl().training(name).execution.weight_precision, Precision::bf16);
}

// Stages of trainers lie apart, a replica of an engine together; weights that cross are broadcast.
TEST(RlRuns, HaveDevicesAndWeightsWhereTheFrameworkPutsThem) {
  const std::string apart = "nemo-rl-v0.6-h100-grpo-qwen3-30b3a-32gpu-1off-bf16";  // trains DP 8 x PP 2
  const Replica& pipeline = rl().training(apart).replicas.front();
  EXPECT_EQ(pipeline.stages[0].devices.front().value, 0);
  EXPECT_EQ(pipeline.stages[1].devices.front().value, 8);
  EXPECT_EQ(rl().plan(apart).weight_sync.method, WeightSyncMethod::broadcast);
  EXPECT_FALSE(rl().training(apart).execution.offload_weights);
  EXPECT_TRUE(rl().task(apart, "reference_inference").execution.offload_weights);
  const std::string together = "nemo-rl-v0.6-h100-grpo-qwen3-235b-128gpu-0off-bf16";
  EXPECT_EQ(rl().plan(together).weight_sync.method, WeightSyncMethod::shortest);
  EXPECT_TRUE(rl().training(together).execution.offload_weights);
  EXPECT_EQ(rl().generation(together).replicas[1].stages[0].devices.front().value, 16);
}

TEST(RlRuns, HaveAnswersThatReachTheirLimit) {
  const Lengths& far =
      rl().workflow("verl-fullyasync-h20-7b-async-128").response_tokens;  // 8192 of at most 28672
  EXPECT_NEAR(far.mean_tokens(), 1200, 1);
  EXPECT_NEAR(far.longest_of(8192), 0.95 * 28672, 30);
  EXPECT_GT(far.sigma, kUsualSigma);
  EXPECT_EQ(rl().workflow("nemo-rl-v0.6-h100-grpo-qwen3-235b-128gpu-0off-bf16").response_tokens.sigma,
            kUsualSigma);  // at it anyway
}

TEST(RlRuns, NameTimersByWhatTheyCover) {
  EXPECT_THAT(rl().run("verl-log-deepseek7b-grpo-megatron-16gpu").tasks,
              UnorderedElementsAre(Key("actor_generation+weight_sync"), Key("old_log_prob"),
                                   Key("reference_inference"), Key("actor_training")));
  EXPECT_THAT(rl().run("openrlhf-bench-a800-7b-ray").tasks,
              UnorderedElementsAre(
                  Key("actor_generation+reward_inference+old_log_prob+reference_inference+critic_inference"),
                  Key("actor_training+critic_training")));
}

TEST(RlRuns, TakeNoWaitForATask) {
  const sextant::Run& run = rl().run("verl-fullyasync-h20-7b-async-128");
  EXPECT_THAT(run.tasks, ElementsAre(Key("actor_training")));
  EXPECT_EQ(run.waits.at("actor_generation").median_s(), 33.14);
}

// Training of 313.81 s does not fit into an iteration of 294.77 s.
TEST(RlRuns, HaveNoPartsThatAreMoreThanTheWhole) {
  EXPECT_THAT(rl().run("verl-fullyasync-h20-7b-async-32").tasks, IsEmpty());
}

TEST(RlRuns, LeaveUnstatedWhatTheFitMayMove) {
  const sextant::Run& run = rl().run("verl-fullyasync-h20-7b-async-128");
  EXPECT_THAT(run.unstated, ElementsAre(Unstated{UnstatedQuantity::response_tokens,
                                                 "Qwen2.5-Math-7B, dapo-math-17k, at most 28672", 0.3},
                                        Unstated{UnstatedQuantity::recompute, "verl-fsdp", 0.5}));
}

TEST(RlRuns, DoWithoutGenerationWhereItsLayoutIsUnknown) {
  const sextant::Run& run = rl().run("verl-log-lora-gsm8k-qwen2.5-7b-8gpu");
  EXPECT_THAT(run.tasks,
              UnorderedElementsAre(Key("old_log_prob"), Key("reference_inference"), Key("actor_training")));
  EXPECT_TRUE(run.iteration.empty());
  EXPECT_THAT(run.notes.at("dropped"), HasSubstr("The iteration's time"));
}

}  // namespace
}  // namespace sextant
