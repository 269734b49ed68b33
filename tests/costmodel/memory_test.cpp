#include "costmodel/terms/memory.h"

#include <gtest/gtest.h>

#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

// Every device of one task, on the small cluster, with neutral coefficients.
std::vector<TaskMemory<double>> task_memory(const Task& task, const TaskPlan& plan, const Workflow& workflow) {
  const Cluster cluster = small_cluster();
  const Hardware<double> hardware(cluster, workflow.precision);
  const CoefficientValues<double> neutral(hardware.type_count());
  return sextant::task_memory(
      work_of(task, plan, workflow, cluster), neutral,
      [&](DeviceId device) { return hardware.type_index(device); }, true);
}

TEST(Memory, ModelStatesByHand) {
  const Workflow workflow = small_workflow();
  // Training in bf16: 2 + 2 + 8 + 4 = 16 bytes a parameter; stage 0 holds 320 parameters over two devices.
  const auto memory = task_memory(workflow.task("actor_training"), uneven_pipeline(), workflow);
  ASSERT_EQ(memory.size(), 3u);
  EXPECT_DOUBLE_EQ(memory[0].resident_bytes, 16 * 160);
  EXPECT_DOUBLE_EQ(memory[2].resident_bytes, 16 * 160);
  // Inference keeps only the weights.
  EXPECT_DOUBLE_EQ(
      task_memory(workflow.task("reference_inference"), uneven_pipeline(), workflow)[0].resident_bytes,
      2 * 160);
}

TEST(Memory, TrainingInFp32NeedsNoMasterCopy) {
  Workflow workflow = small_workflow();
  workflow.precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(task_memory(workflow.task("actor_training"), on_device(0), workflow)[0].resident_bytes,
                   16 * 480);
}

TEST(Memory, KvCacheByHand) {
  const Workflow workflow = small_workflow();
  TaskPlan plan = on_device(0);
  plan.decode_batch_sequences = 4;
  // 4 sequences * 8 tokens * 3 layers * 8 elements * 2 bytes.
  EXPECT_DOUBLE_EQ(task_memory(workflow.task("actor_generation"), plan, workflow)[0].working_bytes,
                   4 * 8 * 3 * 8 * 2);
}

TEST(Memory, ActivationsByHand) {
  const Workflow workflow = small_workflow();
  // A layer keeps a token's 4 * 4 + (2*4 + 2*4) * 1 + 8 * 4 + 3 * 8 = 88 elements; 8 tokens, 3 sequences, 3
  // layers, and 4 elements a token of the embedding's output. The layer at work adds its gradients, 88.
  EXPECT_DOUBLE_EQ(task_memory(workflow.task("actor_training"), on_device(0), workflow)[0].working_bytes,
                   2.0 * 3 * 8 * (3 * 88 + 4 + 88));
  TaskPlan recomputed = on_device(0);
  // Three inputs of 4, the embedding's output, and the values and gradients of one layer but for its input.
  recomputed.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(task_memory(workflow.task("actor_training"), recomputed, workflow)[0].working_bytes,
                   2.0 * 3 * 8 * (3 * 4 + 4 + 2 * 88 - 4));
  // Inference has the values of one layer at a time.
  EXPECT_DOUBLE_EQ(task_memory(workflow.task("reference_inference"), on_device(0), workflow)[0].working_bytes,
                   2.0 * 3 * 8 * 88);
}

TEST(Memory, EarlierStagesKeepMoreMicroBatches) {
  const Workflow workflow = small_workflow();
  TaskPlan plan = on_device(0);
  plan.replicas = {{1.0, {stage(1, {0}), stage(1, {1}), stage(1, {2})}}};
  const auto memory = task_memory(workflow.task("actor_training"), plan, workflow);
  // Three micro-batches of 24 tokens are in flight on the first stage, and gradients of one of them.
  EXPECT_DOUBLE_EQ(memory[2].working_bytes, 2.0 * 24 * (88 + 88));
  EXPECT_DOUBLE_EQ(memory[0].working_bytes, 2.0 * 24 * (3 * (88 + 4) + 88));
}

TEST(Memory, PlanSumsResidentStatesAndTakesTheLargestWorkingSet) {
  const Workflow workflow = small_workflow();
  const Plan plan = same_everywhere(on_device(0));
  const auto memory = plan_memory(workflow, plan, small_cluster());
  ASSERT_EQ(memory.size(), 1u);
  double resident = 0, working = 0;
  for (const Task& task : workflow.tasks) {
    const TaskMemory<double> part = task_memory(task, on_device(0), workflow)[0];
    resident += part.resident_bytes;
    working = std::max(working, part.working_bytes);
  }
  EXPECT_DOUBLE_EQ(memory[0].resident_bytes, resident);
  EXPECT_DOUBLE_EQ(memory[0].working_bytes, working);
  EXPECT_TRUE(memory[0].fits());
}

TEST(Memory, VocabularyTakesItsShare) {
  const Workflow with = small_workflow(Mode::synchronous, 10), without = small_workflow();
  const double more = task_memory(with.task("actor_training"), on_device(0), with)[0].resident_bytes -
                      task_memory(without.task("actor_training"), on_device(0), without)[0].resident_bytes;
  EXPECT_DOUBLE_EQ(more, 16 * 80);
}

}  // namespace
}  // namespace sextant::test
