// The parts of an iteration: tasks, the weight sync, the controller and rewards.
#include <gtest/gtest.h>

#include "tests/costmodel/graph_case.h"

namespace sextant::test {
namespace {

TEST(Rows, SumToTheIterationWhereTasksRunOneByOne) {
  Workflow workflow = with_graph(grpo_tasks(false));
  workflow.rule_reward_s_per_sequence = 0.5;
  const Coefficients coefficients =
      with_values({{CoefficientId::iteration_overhead_s, 7}, {CoefficientId::sequence_overhead_s, 0.25}});
  const Prediction prediction = predict(small_cluster(), workflow, all_on(workflow, 0), coefficients);
  EXPECT_DOUBLE_EQ(prediction.controller_s, 7 + 12 * 0.25);
  EXPECT_DOUBLE_EQ(prediction.rule_reward_s, 6);
  double sum_s = prediction.weight_sync_s + prediction.controller_s + prediction.rule_reward_s;
  for (const auto& [name, task] : prediction.tasks) sum_s += task.time_s;
  EXPECT_NEAR(sum_s, prediction.iteration_s, kSumRounding * sum_s);
  EXPECT_EQ(prediction.overlapped_s(), 0);
  workflow.orchestration = Orchestration::loop;
  EXPECT_EQ(predict(small_cluster(), workflow, all_on(workflow, 0), coefficients).controller_s, 0);
}

// Inference of 1290.24 s on device 1, as on device 0: 12 sequences, 3 layers, 3584 FLOP a layer, 100 FLOP/s.
TEST(Rows, OverlapIsWhatTheySumToBeyondTheIteration) {
  const Workflow workflow = with_graph(grpo_tasks(false, {.has_old_log_prob = true}));
  Plan plan = all_on(workflow, 0);
  plan.tasks.at(task_names::kOldLogProb) = on_device(1);
  const Prediction prediction = predicted(workflow, plan);
  EXPECT_NEAR(prediction.overlapped_s(), 1290.24, kSumRounding * prediction.iteration_s);
}

TEST(Rows, OfAPublicStepSumToIt) {
  const FieldCase asked("17-is-it-normal", "b-", "b-");
  const Coefficients coefficients =
      with_values({{CoefficientId::iteration_overhead_s, 10}, {CoefficientId::sequence_overhead_s, 0.004}});
  const Prediction prediction = predict(asked.cluster, asked.workflow, asked.plan, coefficients);
  EXPECT_DOUBLE_EQ(prediction.controller_s, 10 + 1152 * 5 * 0.004);
  double sum_s = prediction.weight_sync_s + prediction.controller_s;
  for (const auto& [name, task] : prediction.tasks) sum_s += task.time_s;
  EXPECT_NEAR(sum_s, prediction.iteration_s, kSumRounding * sum_s);
}

}  // namespace
}  // namespace sextant::test
