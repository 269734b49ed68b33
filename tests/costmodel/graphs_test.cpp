// The standard graphs of PPO and GRPO without a reference and with old_log_prob.
#include <gtest/gtest.h>

#include "tests/costmodel/graph_case.h"

namespace sextant::test {
namespace {

// All tasks of the graph on device 0, which does 100 FLOP/s: 12 sequences of 8 tokens take 3584 FLOP a layer,
// so inference 12 * 3 * 3584 / 100 = 1290.24 s, training three times that, generation 12 * 3 * 1104 / 100 s of
// prefill and 5 * 3 * 320 / 50 s of decoding.
constexpr double kInference_s = 1290.24, kTraining_s = 3870.72, kGeneration_s = 397.44 + 96;

TEST(Graphs, GrpoWithoutAReferenceIsGenerationAndTraining) {
  const Workflow workflow = with_graph(grpo_tasks(false, {.has_reference = false}));
  const Prediction prediction = predicted(workflow, all_on(workflow, 0));
  EXPECT_EQ(prediction.tasks.size(), 2U);
  EXPECT_DOUBLE_EQ(prediction.iteration_s, kGeneration_s + kTraining_s + prediction.weight_sync_s);
}

TEST(Graphs, OldLogProbIsOneMoreInferenceOfTheActor) {
  const double without_s = iteration_s(with_graph(grpo_tasks(false)));
  const double with_s = iteration_s(with_graph(grpo_tasks(false, {.has_old_log_prob = true})));
  EXPECT_NEAR(with_s, without_s + kInference_s, kSumRounding * with_s);
}

TEST(Graphs, OldLogProbRunsAtTheSameTimeAsTheReference) {
  const Workflow workflow = with_graph(grpo_tasks(false, {.has_old_log_prob = true}));
  Plan plan = all_on(workflow, 0);
  const double one_by_one_s = predicted(workflow, plan).iteration_s;
  plan.tasks.at(task_names::kOldLogProb) = on_device(1);  // as fast as device 0
  const double weights_s = 1 + 2 * 480 / 100.0;           // of the actor, to a device beside it
  EXPECT_NEAR(predicted(workflow, plan).iteration_s, one_by_one_s - kInference_s + weights_s,
              kSumRounding * one_by_one_s);
}

TEST(Graphs, PpoTakesTheSameOptions) {
  const double six_s = iteration_s(with_graph(ppo_tasks(), Algorithm::ppo));
  EXPECT_DOUBLE_EQ(iteration_s(with_graph(ppo_tasks({.has_reference = false}), Algorithm::ppo)),
                   six_s - kInference_s);
  EXPECT_DOUBLE_EQ(iteration_s(with_graph(ppo_tasks({.has_old_log_prob = true}), Algorithm::ppo)),
                   six_s + kInference_s);
  constexpr double kValueHead_s = 12 * 8 * 2 * 4 / 100.0;  // of the reward model: one number for each token
  EXPECT_DOUBLE_EQ(iteration_s(with_graph(ppo_tasks({}, false), Algorithm::ppo)),
                   six_s - kInference_s - kValueHead_s);
}

TEST(Graphs, SynchronousGraphsTakeAsLongAsCustomOnes) {
  for (const GraphOptions& options :
       {GraphOptions{false, false}, GraphOptions{false, true}, GraphOptions{true, true}}) {
    for (const Algorithm algorithm : {Algorithm::grpo, Algorithm::ppo}) {
      Workflow workflow =
          with_graph(algorithm == Algorithm::ppo ? ppo_tasks(options) : grpo_tasks(true, options), algorithm);
      const double standard_s = iteration_s(workflow);
      workflow.algorithm = Algorithm::custom;
      EXPECT_NEAR(iteration_s(workflow), standard_s, kSumRounding * standard_s);
    }
  }
}

TEST(FieldGraphs, GrpoWithoutAReferenceIsPredictedByItsNames) {
  FieldCase asked("19-grpo-as-people-run-it", "no-reference-");
  EXPECT_EQ(asked.workflow.algorithm, Algorithm::grpo);
  const double iteration_s = asked.answer().iteration_s;
  asked.workflow.algorithm = Algorithm::custom;
  EXPECT_NEAR(asked.answer().iteration_s, iteration_s, kSumRounding * iteration_s);
}

TEST(FieldGraphs, GrpoWithOldLogProbIsPredictedByItsNames) {
  FieldCase asked("19-grpo-as-people-run-it", "old-log-prob-");
  EXPECT_EQ(asked.workflow.algorithm, Algorithm::grpo);
  const Prediction prediction = asked.answer();
  EXPECT_GT(prediction.tasks.at(task_names::kOldLogProb).time_s, 0);
  asked.workflow.algorithm = Algorithm::custom;
  EXPECT_NEAR(asked.answer().iteration_s, prediction.iteration_s, kSumRounding * prediction.iteration_s);
}

}  // namespace
}  // namespace sextant::test
