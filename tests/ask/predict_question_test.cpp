#include "ask/predict_question.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sextant::test {
namespace {

struct Asked {
  LoadedInputs loaded;
  PredictedPlan predicted;

  [[nodiscard]] const TaskPlan& task(const char* name) const { return predicted.plan.tasks.at(name); }
  // The note that begins so; empty if there is none.
  [[nodiscard]] std::string note(const std::string& start) const {
    for (const std::string& sentence : predicted.prediction.notes) {
      if (sentence.rfind(start, 0) == 0) return sentence;
    }
    return "";
  }
};

Asked ask(const std::string& gpus, const std::string& model, const std::string& framework,
          const std::string& train, const std::string& rollout, const std::string& inference = "") {
  ModelInputs inputs;
  inputs.cluster_in_words.gpus = gpus;
  inputs.workflow_in_words.model = model;
  inputs.framework = framework;
  Asked asked{load_inputs(inputs), {}};
  PlanToPredict question;
  question.layouts = {train, rollout, inference};
  asked.predicted = plan_in_question(question, asked.loaded);
  predict_as_asked(question, asked.loaded, asked.predicted);
  return asked;
}

std::vector<int> layers_of(const TaskPlan& task) {
  std::vector<int> layers;
  for (const Stage& stage : task.replicas.front().stages) layers.push_back(stage.layers);
  return layers;
}

// NeMo RL states the layers of the first and the last stage: its recipe of Qwen3-235B (94 layers) in 8 stages
// has 11 and 11 there, that of DeepSeek-V3 (61) in 16 stages 3 and 2.
TEST(PredictQuestion, LayersThatDoNotDivideAreDealtAsTheFrameworkDoes) {
  const Asked qwen = ask("32x8xH100", "Qwen3-235B-A22B", "nemo-rl-megatron", "tp=8,pp=8,ep=8", "tp=16");
  EXPECT_EQ(layers_of(qwen.task("actor_training")), (std::vector<int>{11, 12, 12, 12, 12, 12, 12, 11}));
  EXPECT_EQ(qwen.note("Note: framework"), "");
  const Asked deepseek = ask("32x8xH100", "DeepSeek-V3", "nemo-rl-megatron", "tp=8,pp=16,ep=8", "tp=32");
  std::vector<int> expected(16, 4);
  expected.front() = 3;
  expected.back() = 2;
  EXPECT_EQ(layers_of(deepseek.task("actor_training")), expected);
}

// A framework that moves weights off GPUs which generation and training share does so without being asked.
TEST(PredictQuestion, DefaultsObeyTheRulesOfTheirFramework) {
  for (const std::string framework : {"verl", "nemo-rl", "skyrl", "openrlhf"}) {
    const Asked asked = ask("4x8xH100", "Qwen3-14B", framework, "fsdp=32", "tp=2");
    EXPECT_EQ(asked.note("Note: framework"), "") << framework;
  }
  const Asked areal = ask("4x8xH100", "Qwen3-14B", "areal", "fsdp=32", "tp=2");
  EXPECT_TRUE(areal.task("actor_generation").execution.offload_weights);
  EXPECT_TRUE(areal.task("actor_training").execution.offload_weights);
  EXPECT_NE(areal.note("Assumed for actor_training: its weights leave the GPUs"), "");
  // Words of the user's own are left as they are, and the rule that they break is named.
  const Asked kept = ask("4x8xH100", "Qwen3-14B", "areal", "fsdp=32,offload=none", "tp=2");
  EXPECT_FALSE(kept.task("actor_training").execution.offload_weights);
  EXPECT_NE(kept.note("Note: framework areal").find("weights of actor_training"), std::string::npos);
}

// Activations kept for a micro-batch of 16,384 tokens fill more than a GPU; those of the longest sequence
// (1,024 + 4,096 tokens) are a third of them.
TEST(PredictQuestion, APlanThatDoesNotFitIsToldWhatWould) {
  const Asked asked = ask("4x8xH100", "Qwen3-14B", "nemo-rl", "fsdp=32", "tp=2");
  ASSERT_FALSE(asked.predicted.prediction.fits());
  const std::string advice = asked.note("The plan fits with ");
  EXPECT_NE(advice.find("recompute full"), std::string::npos) << advice;
  const Asked told = ask("4x8xH100", "Qwen3-14B", "nemo-rl", "fsdp=32,recompute=full", "tp=2");
  EXPECT_EQ(told.note("The plan fits with "), "");
  for (const DeviceMemory& device : told.predicted.prediction.memory) {
    EXPECT_EQ(fit_of(device.fits(), device.trust), Fit::fits);
  }
  // The time is that of the plan with the change.
  char time[32];
  std::snprintf(time, sizeof time, ": %.0f s an iteration", told.predicted.prediction.iteration_s);
  EXPECT_NE(advice.find(time), std::string::npos) << advice << time;
}

// If one layer is too large, no option helps, and no sentence is better than a wrong one.
TEST(PredictQuestion, WhereNothingHelpsNothingIsSaid) {
  const Asked asked = ask("1xH100", "Llama-3.1-70B", "verl", "fsdp=1", "tp=1");
  ASSERT_FALSE(asked.predicted.prediction.fits());
  EXPECT_EQ(asked.note("The plan fits with "), "");
}

}  // namespace
}  // namespace sextant::test
