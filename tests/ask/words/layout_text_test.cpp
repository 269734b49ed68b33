#include "ask/words/layout_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(refusal({"fsdp=16,tokens=0", "tp=2", ""}), HasSubstr("out of range"));
  EXPECT_THAT(refusal({"fsdp=16,offload=none,offload=none", "tp=2", ""}), HasSubstr("given twice"));
  EXPECT_THAT(refusal({"fsdp=16,batch=5", "tp=2", ""}), HasSubstr("expected tp=, pp="));
}

TEST(LayoutText, WordsOfAPlanMakeThePlan) {
  const LoadedInputs asked = question();
  for (const LayoutOptions& words :
       {LayoutOptions{"fsdp=16,tokens=20000,recompute=none,offload=weights+activations",
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
