// Faults that are planted into a run's times, and runs without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ask/check/verdict.h"
#include "ask/inputs.h"
#include "sextant/document.h"
#include "sextant/predict.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

// GRPO of a model in a layout, executed as verl does, with the coefficients that ship.
struct Case {
  LoadedInputs loaded;
  Circumstances own;

  Case(const std::string& gpus, const std::string& model, const std::string& framework,
       const std::string& train, const std::string& rollout) {
    ModelInputs inputs;
    inputs.cluster_in_words.gpus = gpus;
    inputs.workflow_in_words.model = model;
    inputs.framework = framework;
    loaded = load_inputs(inputs);
    std::vector<std::string> assumed;
    own = {loaded.cluster, loaded.workflow, plan_of({train, rollout, ""}, loaded, assumed)};
  }

  // Times of tasks as predicted in these circumstances, each off by a few percent, with little doubt left by
  // the fit.
  [[nodiscard]] Run run(const Circumstances& in, std::mt19937& random) const {
    const Prediction prediction =
        predict(in.cluster, in.workflow, in.plan, loaded.chosen.coefficients, loaded.chosen.framework);
    constexpr double kNoise = 0.04;
    std::normal_distribution<double> noise(0, kNoise);
    Run run;
    run.name = "run";
    run.framework = loaded.chosen.framework;
    for (const auto& [task, of_task] : prediction.tasks)
      run.tasks[task].samples_s = {of_task.time_s * std::exp(noise(random))};
    run.tasks[kWeightSync].samples_s = {prediction.weight_sync_s * std::exp(noise(random))};
    run.iteration.samples_s = {prediction.iteration_s * std::exp(noise(random))};
    return run;
  }
};

const Change* find(const std::vector<Change>& changes, const std::string& name) {
  for (const Change& change : changes) {
    if (change.name.find(name) != std::string::npos) return &change;
  }
  return nullptr;
}

// Intervals of the shipped coefficients are wide: a fault inside them is not seen. Of those that are seen, the
// planted one must be the first that is named, or explain as much as the first.
TEST(Check, NamesThePlantedCause) {
  std::mt19937 random(1);
  const Case fsdp("4x8xH100", "Qwen3-14B", "verl", "fsdp=32", "tp=2");
  const Case megatron("8x8xH100", "Qwen2.5-72B", "verl-megatron", "tp=8,pp=4", "tp=8");
  const std::vector<std::pair<const Case*, const char*>> planted{
      {&fsdp, "padding to the longest"},
      {&fsdp, "decoding without CUDA graphs"},
      {&fsdp, "a limit of an eighth"},
      {&fsdp, "network between nodes at a fifth"},
      {&fsdp, "arithmetic of H100-SXM-80GB 50 %"},
      {&fsdp, "memory of H100-SXM-80GB 60 %"},
      {&megatron, "arithmetic and memory of H100-SXM-80GB 60 %"},
      {&megatron, "network between nodes at a tenth"},
      {&megatron, "a KV cache of a sixteenth"},
      {&fsdp, "responses 1.5 times"},
      {&fsdp, "no continuous batching"},
      {&megatron, "tensor parallelism of training across nodes"},
      {&megatron, "tensor parallelism of generation across nodes"},
      {&megatron, "links inside nodes at a fifth"},
      {&megatron, "padding to the longest"},
  };
  int seen = 0, first = 0;
  for (const auto& [of, name] : planted) {
    const std::vector<Change> faults = possible_faults(of->own);
    const Change* fault = find(faults, name);
    ASSERT_NE(fault, nullptr) << name;
    const RunVerdict verdict =
        verdict_on(of->run(fault->with, random), of->own, of->loaded.chosen.coefficients);
    seen += verdict.is_normal() ? 0 : 1;
    const auto named = std::find_if(verdict.causes.begin(), verdict.causes.end(),
                                    [&](const LikelyCause& cause) { return cause.name == fault->name; });
    constexpr double kAsMuch = 0.02;
    const bool is_first =
        named != verdict.causes.end() && named->explained >= verdict.causes.front().explained - kAsMuch;
    first += is_first ? 1 : 0;
    if (!is_first)
      std::printf("%s: %s\n", name,
                  verdict.is_normal()      ? "inside the intervals"
                  : verdict.causes.empty() ? "no cause"
                                           : verdict.causes.front().name.c_str());
  }
  std::printf("planted %zu, outside the intervals %d, named first %d\n", planted.size(), seen, first);
  EXPECT_GE(seen, 4);
  EXPECT_EQ(first, seen);
}

TEST(Check, LeavesHealthyRunsAlone) {
  std::mt19937 random(2);
  const Case fsdp("4x8xH100", "Qwen3-14B", "verl", "fsdp=32", "tp=2");
  const Case small("8xA100-SXM-80GB", "Qwen2.5-7B", "openrlhf", "fsdp=8", "tp=1");
  int alarms = 0;
  for (int i = 0; i < 12; ++i) {
    const Case& of = i % 2 == 0 ? fsdp : small;
    const RunVerdict verdict = verdict_on(of.run(of.own, random), of.own, of.loaded.chosen.coefficients);
    alarms += verdict.is_normal() ? 0 : 1;
  }
  EXPECT_LE(alarms, 1);
}

// A log states how long its responses were.
TEST(Check, DoesNotDoubtWhatALogStates) {
  std::mt19937 random(4);
  Case of("4x8xH100", "Qwen3-14B", "verl", "fsdp=32", "tp=2");
  Lengths& responses = of.own.workflow.response_tokens;
  responses = scaled(responses, 0.3);
  responses.sigma = 0.5;  // not the spread that importers assume
  Circumstances longer = of.own;
  longer.workflow.response_tokens = scaled(responses, 2.5);
  sextant::Run run = of.run(longer, random);
  const auto doubts_responses = [&] {
    const RunVerdict verdict = verdict_on(run, of.own, of.loaded.chosen.coefficients);
    EXPECT_FALSE(verdict.is_normal());
    return std::any_of(verdict.causes.begin(), verdict.causes.end(), [](const LikelyCause& cause) {
      return cause.name.find("responses") != std::string::npos;
    });
  };
  EXPECT_TRUE(doubts_responses());
  run.source = RunSource::import;
  EXPECT_FALSE(doubts_responses());
  run.unstated = {{UnstatedQuantity::response_tokens, "log", 0.3}};
  EXPECT_TRUE(doubts_responses());
}

TEST(Check, NamesTimesInWhichNoGpuCouldDoTheWork) {
  std::mt19937 random(5);
  const Case of("8xH100", "Qwen3-8B", "verl", "fsdp=8", "tp=2");
  sextant::Run run = of.run(of.own, random);
  EXPECT_TRUE(verdict_on(run, of.own, of.loaded.chosen.coefficients).impossible.empty());
  double& training_s = run.tasks.at(task_names::kActorTraining).samples_s.front();
  training_s /= 10;
  const RunVerdict verdict = verdict_on(run, of.own, of.loaded.chosen.coefficients);
  ASSERT_EQ(verdict.impossible.size(), 1U);
  EXPECT_FALSE(verdict.is_normal());
  EXPECT_TRUE(verdict.causes.empty());
  const BeyondPeak& found = verdict.impossible.front();
  EXPECT_EQ(found.what, task_names::kActorTraining);
  EXPECT_GT(found.share, 1);
  EXPECT_LT(found.share, 10);
  EXPECT_THAT(found.sentence(), HasSubstr(" % of the peak of 8 H100-SXM-80GB (989 TFLOP/s each)"));
}

TEST(Check, ListsSettingsThatWouldGain) {
  std::mt19937 random(3);
  Case eager("4x8xH100", "Qwen3-14B", "verl", "fsdp=32", "tp=2");
  eager.own.plan.tasks.at(task_names::kActorGeneration).execution.cuda_graphs = false;
  const RunVerdict verdict =
      verdict_on(eager.run(eager.own, random), eager.own, eager.loaded.chosen.coefficients);
  ASSERT_FALSE(verdict.gains.empty());
  EXPECT_LE(verdict.gains.size(), 3U);
  for (std::size_t i = 1; i < verdict.gains.size(); ++i)
    EXPECT_GE(verdict.gains[i - 1].seconds, verdict.gains[i].seconds);
}

TEST(Check, IsACommand) {
  const Printed printed =
      run_sextant({"check", data("runs.json"), "--coefficients", data("coefficients.json")});
  EXPECT_TRUE(printed.exit_code == 0 || printed.exit_code == 1) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("measured"));
  EXPECT_EQ(run_sextant({"check", data("runs.json"), "--run", "no such run"}).exit_code, 2);
  EXPECT_EQ(run_sextant({"check", data("plan.json")}).exit_code, 2);
}

}  // namespace
}  // namespace sextant::test
