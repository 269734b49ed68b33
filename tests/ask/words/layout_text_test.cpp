#include "ask/words/layout_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ask/inputs.h"
#include "sextant/error.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LoadedInputs question() {
  ModelInputs inputs;
  inputs.cluster_in_words.gpus = "2x8xH100";
  inputs.workflow_in_words.model = "Qwen3-8B";
  inputs.framework = "verl-fsdp";
  return load_inputs(inputs);
}

Plan plan_in_words(const LayoutOptions& words) {
  std::vector<std::string> assumed;
  return plan_of(words, question(), assumed);
}

std::string refusal(const LayoutOptions& words) {
  try {
    (void)plan_in_words(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LayoutText, StatesMicroBatchesRecomputationAndOffloading) {
  const Plan plan = plan_in_words({"fsdp=16,tokens=20000,recompute=none,offload=weights+optimizer",
                                   "tp=2,sequences=96,offload=none", "fsdp=16,sequences=3,offload=weights"});
  const TaskPlan& training = plan.tasks.at("actor_training");
  EXPECT_EQ(training.execution.micro_batch_tokens, 20000);
  EXPECT_EQ(training.recompute, Recompute::none);
  EXPECT_TRUE(training.execution.offload_weights);
  EXPECT_TRUE(training.execution.offload_optimizer);
  EXPECT_FALSE(training.execution.offload_activations);
  const TaskPlan& generation = plan.tasks.at("actor_generation");
  EXPECT_EQ(generation.decode_batch_sequences, 96);
  EXPECT_FALSE(generation.execution.offload_weights);
  const TaskPlan& reference = plan.tasks.at("reference_inference");
  EXPECT_EQ(reference.execution.micro_batch_tokens, 0);
  EXPECT_EQ(reference.micro_batch_sequences, 3);
  EXPECT_TRUE(reference.execution.offload_weights);
}

// Options of training are not those of the tasks that only have its layout.
TEST(LayoutText, LeavesOtherTasksAsTheFrameworkHasThem) {
  const Plan usual = plan_in_words({"fsdp=16", "tp=2", ""});
  const Plan plan = plan_in_words({"fsdp=16,sequences=2,recompute=selective", "tp=2", ""});
  EXPECT_EQ(plan.tasks.at("reference_inference"), usual.tasks.at("reference_inference"));
  EXPECT_EQ(plan.tasks.at("actor_training").recompute, Recompute::selective);
  EXPECT_EQ(plan.tasks.at("actor_training").micro_batch_sequences, 2);
  EXPECT_EQ(usual.tasks.at("actor_training").recompute, Recompute::full);
}

TEST(LayoutText, RefusalsQuoteTheWordsAndSayWhatIsAllowed) {
  EXPECT_THAT(
      refusal({"fsdp=16,recompute=some", "tp=2", ""}),
      AllOf(HasSubstr("--train: expected recompute=none, selective or full"), HasSubstr("\"recompute=some\"")));
  EXPECT_THAT(refusal({"fsdp=16,offload=weights+all", "tp=2", ""}),
              AllOf(HasSubstr("weights, optimizer and activations"), HasSubstr("\"offload=weights+all\"")));
  EXPECT_THAT(refusal({"fsdp=16", "tp=2,offload=optimizer", ""}),
              HasSubstr("expected offload=none or weights"));
  EXPECT_THAT(refusal({"fsdp=16", "tp=2,tokens=5", ""}), HasSubstr("an engine has no tokens"));
  EXPECT_THAT(refusal({"fsdp=16", "tp=2", "fsdp=16,recompute=full"}),
              HasSubstr("only training has activations"));
  EXPECT_THAT(refusal({"fsdp=16,tokens=1,sequences=1", "tp=2", ""}), HasSubstr("in tokens or in sequences"));
  EXPECT_THAT(refusal({"fsdp=16,tokens=-5", "tp=2", ""}), HasSubstr("whole number"));
  for (const char* wrong : {"tokens=0", "tokens", "tokens=1e3", "zero=4", "gpus=9-4", "gpus=a-b"})
    EXPECT_THAT(
        refusal({"fsdp=16," + std::string(wrong), "tp=2", ""}),
        AllOf(HasSubstr("--train: expected "), HasSubstr("from "), HasSubstr("got \"" + std::string(wrong))));
  EXPECT_THAT(refusal({"fsdp=16", "tp=0", ""}), HasSubstr("for example --rollout tp=2"));
  EXPECT_THAT(refusal({"fsdp=16,offload=none,offload=none", "tp=2", ""}), HasSubstr("given twice"));
  EXPECT_THAT(refusal({"fsdp=16,batch=5", "tp=2", ""}), HasSubstr("expected tp=, pp="));
}

// An H100 has 85.0 GB (79.2 GiB).
TEST(LayoutText, StatesTheKvCache) {
  const auto cache = [](const std::string& words) {
    return plan_in_words({"fsdp=16", "tp=2," + words, ""})
        .tasks.at("actor_generation")
        .execution.kv_cache_bytes;
  };
  const LoadedInputs asked = question();
  EXPECT_EQ(cache("cache=0.5"), std::floor(0.5 * asked.cluster.type_of(DeviceId{0}).memory_bytes.value));
  EXPECT_EQ(cache("cache=20GB"), 20e9);
  EXPECT_EQ(cache("cache=1.5GiB"), 1.5 * 1024 * 1024 * 1024);
  for (const char* wrong : {"cache=0", "cache=1", "cache=20", "cache=20TB", "cache=-1GB", "cache=", "cache"})
    EXPECT_THAT(refusal({"fsdp=16", "tp=2," + std::string(wrong), ""}),
                HasSubstr("for example cache=0.4 or cache=30GB"))
        << wrong;
  EXPECT_THAT(refusal({"fsdp=16,cache=0.5", "tp=2", ""}), HasSubstr("only generation has a KV cache"));
  EXPECT_THAT(refusal({"fsdp=16", "tp=2,cache=0.5,cache=1GB", ""}), HasSubstr("given twice"));
}

std::string assumptions(const LayoutOptions& words) {
  std::vector<std::string> assumed;
  (void)plan_of(words, question(), assumed);
  std::string all;
  for (const std::string& sentence : assumed) all += sentence + "\n";
  return all;
}

// verl keeps or moves the weights of both by one setting, and those of the reference by another.
TEST(LayoutText, OffloadInTrainDecidesForTasksOfTheSameSetting) {
  const LayoutOptions words{"fsdp=16,tokens=20000,recompute=none,offload=weights", "tp=2,sequences=96", ""};
  const Plan plan = plan_in_words(words);
  EXPECT_TRUE(plan.tasks.at("old_log_prob").execution.offload_weights);
  EXPECT_FALSE(plan.tasks.at("reference_inference").execution.offload_weights);
  const std::string all = assumptions(words);
  EXPECT_THAT(all,
              HasSubstr("Assumed for old_log_prob, as there is no offload in --inference: its weights leave"));
  EXPECT_THAT(all, HasSubstr("reference_inference, as there is no offload in --inference: its weights stay"));
}

TEST(LayoutText, WhatWordsStateIsNotListedAsAssumed) {
  const std::string all =
      assumptions({"fsdp=16,tokens=20000,recompute=none", "tp=2,sequences=96", "fsdp=16,sequences=3"});
  for (const char* stated : {"micro_batch_tokens 16384", "recompute full", "decode_batch_sequences 1024"})
    EXPECT_THAT(all, ::testing::Not(HasSubstr(stated)));
}

TEST(LayoutText, WordsOfAPlanMakeThePlan) {
  const LoadedInputs asked = question();
  for (const LayoutOptions& words :
       {LayoutOptions{"fsdp=16,shard=8,tokens=20000,recompute=none,offload=weights+activations",
                      "tp=2,dp=8,sequences=96,offload=weights", "fsdp=16,tokens=30000,offload=none"},
        LayoutOptions{"tp=2,dp=4,zero=1,sequences=4,recompute=full,offload=none,gpus=8-15",
                      "dp=8,sequences=64,offload=none,gpus=0-7", "dp=8,sequences=4,offload=none,gpus=8-15"}}) {
    const Plan plan = plan_in_words(words);
    const auto back = words_of_plan(plan, asked.workflow, asked.cluster);
    ASSERT_TRUE(back);
    EXPECT_EQ(plan_in_words(*back), plan) << back->train << " " << back->rollout << " " << back->inference;
  }
}

}  // namespace
}  // namespace sextant::test
