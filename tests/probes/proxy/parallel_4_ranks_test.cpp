// Combined and uneven layouts on four ranks.
#include <gtest/gtest.h>

#include "tests/probes/proxy/fixture.h"
#include "tests/probes/proxy/parallel.h"

namespace sextant::test {
namespace {

TaskPlan with_stages(std::vector<Stage> stages) {
  TaskPlan plan;
  plan.replicas = {make_replica(std::move(stages))};
  plan.micro_batch_sequences = 2;
  return plan;
}

TEST(FourRanks, CombinedParallelismEqualsSerial) {
  const TaskPlan tensor_pipeline = uniform(1, 2, 2);
  const TaskPlan tensor_data = uniform(2, 1, 2);
  const TaskPlan pipeline_data = uniform(2, 2, 1);
  const TaskPlan tensor = uniform(1, 1, 4);  // two ranks to a KV head
  for (const Layout& layout : std::vector<Layout>{{"tp2 pp2", tensor_data, tensor, tensor_pipeline},
                                                  {"dp2 tp2", tensor_pipeline, pipeline_data, tensor_data},
                                                  {"dp2 pp2", tensor, tensor_pipeline, pipeline_data},
                                                  {"tp4", pipeline_data, tensor_data, tensor}}) {
    expect_equals_serial(small_grpo(), plan_of(small_grpo(), layout));
  }
}

TEST(FourRanks, StagesOfDifferentWidthEqualSerial) {
  const TaskPlan widening = with_stages({make_stage(1, {0}), make_stage(2, {3, 1})});
  const TaskPlan narrowing = with_stages({make_stage(2, {2, 3}), make_stage(1, {0})});
  expect_equals_serial(small_ppo(), plan_of(small_ppo(), {"widening", narrowing, narrowing, widening}));
  expect_equals_serial(small_ppo(), plan_of(small_ppo(), {"narrowing", widening, widening, narrowing}));
}

TEST(FourRanks, SplitEqualsSerial) {
  const Layout split{"split", uniform(2, 1, 1, 2), uniform(1, 2, 1, 0), uniform(1, 1, 2, 0)};
  expect_equals_serial(small_grpo(), plan_of(small_grpo(), split));
  const Layout replicas{"data to tensor", uniform(1, 1, 2, 2), uniform(2, 1, 1, 0), uniform(2, 1, 1, 0)};
  expect_equals_serial(small_grpo(), plan_of(small_grpo(), replicas));
}

TEST(FourRanks, OverlappedGenerationRuns) {
  Workflow workflow = small_ppo();
  workflow.mode = Mode::one_step_off;
  Plan plan = plan_of(workflow, {"overlapped", uniform(1, 2, 1, 2), uniform(1, 1, 1, 0), uniform(1, 1, 1, 0)});
  plan.tasks.at(task_names::kCriticTraining) = uniform(1, 1, 1, 1);
  plan.tasks.at(task_names::kCriticInference) = uniform(1, 1, 1, 1);
  expect_runs(workflow, plan);
}

}  // namespace
}  // namespace sextant::test
