// Micro-batches of engines, and what is assumed where a plan leaves them out.
#include <gtest/gtest.h>

#include "tests/costmodel/graph_case.h"

namespace sextant::test {
namespace {

Coefficients host_bound() {
  return with_values(
      {{CoefficientId::collective_overhead_s, 1e-4}, {CoefficientId::micro_batch_overhead_s, 1e-3}});
}

TEST(FieldMicroBatches, AnEngineWithAChunkSizeHasNone) {
  FieldCase asked("15-rollout-micro-batch");
  const auto generation_s = [&] {
    return predict(asked.cluster, asked.workflow, asked.plan, host_bound())
        .tasks.at(task_names::kActorGeneration)
        .time_s;
  };
  TaskPlan& generation = asked.plan.tasks.at(task_names::kActorGeneration);
  const double one_s = generation_s();
  for (const int sequences : {2, 64, 5120}) {
    generation.micro_batch_sequences = sequences;
    EXPECT_EQ(generation_s(), one_s) << sequences;
  }
  generation.execution.prefill_chunk_tokens *= 2;
  EXPECT_LT(generation_s(), one_s);
}

// 1,024 prompts of 100 tokens pass once for their five responses, in ceil(102400 / 8192) = 13 chunks.
TEST(FieldMicroBatches, ChunksTakeThePlaceOfMicroBatches) {
  FieldCase asked("15-rollout-micro-batch");
  const Task& task = asked.workflow.task(task_names::kActorGeneration);
  const TaskWork work = work_of(task, asked.plan.tasks.at(task.name), asked.workflow, asked.cluster);
  EXPECT_EQ(work.replicas.front().micro_batches, 13);
  EXPECT_DOUBLE_EQ(work.replicas.front().micro_batch_sequences, 5120 / 13.0);
}

TEST(FieldMicroBatches, WhatThePlanLeavesOutIsAssumedAndNoted) {
  FieldCase asked("15-rollout-micro-batch");
  TaskPlan& generation = asked.plan.tasks.at(task_names::kActorGeneration);
  TaskPlan& reference = asked.plan.tasks.at(task_names::kReferenceInference);
  const double stated_s = asked.answer().tasks.at(task_names::kActorGeneration).time_s;
  generation.execution.prefill_chunk_tokens = 0;
  reference.execution.micro_batch_tokens = 0;
  for (auto& [name, task] : asked.plan.tasks) task.unstated.micro_batch = true;
  const Prediction prediction = asked.answer();
  EXPECT_EQ(prediction.tasks.at(task_names::kActorGeneration).time_s, stated_s);  // 8192, as the plan said
  ASSERT_EQ(prediction.notes.size(), 2U);  // training still has its budget
  EXPECT_EQ(prediction.notes[0],
            "Assumed for actor_generation, whose plan does not say: prompts pass in chunks of 8192 tokens "
            "(prefill_chunk_tokens), as engines have them by default.");
  EXPECT_EQ(prediction.notes[1],
            "Assumed for reference_inference, whose plan does not say: micro-batches of at most 16384 tokens "
            "(micro_batch_tokens), the default of verl.");
  reference.execution.micro_batch_tokens = 16384;
  reference.unstated.micro_batch = false;
  EXPECT_EQ(asked.answer().tasks.at(task_names::kReferenceInference).time_s,
            prediction.tasks.at(task_names::kReferenceInference).time_s);
}

TEST(FieldMicroBatches, AnAssumedBudgetHoldsTheLongestSequence) {
  FieldCase asked("15-rollout-micro-batch");
  asked.workflow.response_tokens = fixed_length(30000);
  TaskPlan& training = asked.plan.tasks.at(task_names::kActorTraining);
  training.execution.micro_batch_tokens = 0;
  training.unstated.micro_batch = true;
  (void)fill_in_unstated(asked.plan, asked.workflow);
  EXPECT_EQ(training.execution.micro_batch_tokens, 30100);
  EXPECT_TRUE(states_all(asked.plan));
}

TEST(FieldMicroBatches, WithPaddingOneSequenceIsAssumed) {
  Workflow workflow = with_graph(grpo_tasks(false));
  Plan plan = all_on(workflow, 0);
  for (auto& [name, task] : plan.tasks) {
    task.micro_batch_sequences = 1;
    task.unstated.micro_batch = true;
  }
  const Prediction assumed = predicted(workflow, plan);
  EXPECT_EQ(assumed.notes.size(), 3U);
  EXPECT_EQ(assumed.notes.front(),
            "Assumed for actor_generation, whose plan does not say: micro-batches of one sequence "
            "(micro_batch_sequences).");
  take_as_stated(plan);
  const Prediction stated = predicted(workflow, plan);
  EXPECT_TRUE(stated.notes.empty());
  EXPECT_EQ(assumed.iteration_s, stated.iteration_s);
}

}  // namespace
}  // namespace sextant::test
