// How many steps decoding takes, how many sequences live in them, what the KV cache holds, and what further
// turns bring: work.h.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

// 12 sequences with 3 tokens of prompt and 2 or 6 of response, decoded in 4 places.
Workflow uneven_responses() {
  Workflow workflow = small_workflow();
  workflow.response_tokens = two_or_six();
  return workflow;
}

TaskPlan four_places(const Execution& execution = {}) {
  TaskPlan plan = with(on_device(0), execution);
  plan.decode_batch_sequences = 4;
  return plan;
}

Execution stopping() {
  Execution execution;
  execution.packed = true;
  return execution;
}

Execution refilling() {
  Execution execution;
  execution.continuous_batching = true;
  return execution;
}

TEST(DecodeBatch, WithoutStopsEveryWaveTakesTheLongest) {
  const TermCase full(kGeneration, four_places(), uneven_responses());
  EXPECT_EQ(full.work().decode_together, 4);
  EXPECT_EQ(full.work().decode_steps, 3 * 6);
  EXPECT_EQ(full.work().live_sequences(), 4);
}

TEST(DecodeBatch, AWaveEndsWithItsLongestResponse) {
  const TermCase stopped(kGeneration, four_places(stopping()), uneven_responses());
  // All four are short once in 16: 2 / 16 + 6 * 15 / 16.
  EXPECT_DOUBLE_EQ(stopped.work().decode_steps, 3 * 5.75);
  EXPECT_DOUBLE_EQ(stopped.work().decode_tokens, 12 * 4);
  EXPECT_DOUBLE_EQ(stopped.work().live_sequences(), 48 / 17.25);
  // A short response attends to 4 + 5 tokens, a long one to 4 + ... + 9 = 39: 24 in the mean.
  EXPECT_DOUBLE_EQ(stopped.work().decode_context_tokens, 12 * 24);
}

TEST(DecodeBatch, EndedResponsesMakePlace) {
  const TermCase continuous(kGeneration, four_places(refilling()), uneven_responses());
  // 8 more sequences of 4 tokens in 4 places, then the longest of the last four.
  EXPECT_DOUBLE_EQ(continuous.work().decode_steps, 8 * 4 / 4.0 + 5.75);
  EXPECT_DOUBLE_EQ(continuous.work().live_sequences(), 48 / 13.75);
}

TEST(DecodeBatch, AllAtOnceTakesTheLongestOfAll) {
  TaskPlan plan = four_places(refilling());
  plan.decode_batch_sequences = 0;
  const TermCase once(kGeneration, plan, uneven_responses());
  EXPECT_DOUBLE_EQ(once.work().decode_steps, 6 - 4 * std::pow(0.5, 12));
}

TEST(DecodeBatch, CachedTokensAreThoseThatLive) {
  // Refilled one by one a place holds its prompt and 20 / (2 * 4) of a response in the mean.
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, four_places(refilling()), uneven_responses()).work().cached_tokens,
                   4 * (3 + 2.5));
  // All at once: before the short ones end 3 + 2 each, later half of them 3 + 6.
  TaskPlan together = with(on_device(0), refilling());
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, together, uneven_responses()).work().cached_tokens, 12 * 5);
  // Three responses share a prompt: 1 + 2 each, later half of 1 + 6.
  together.execution.shared_prompts = true;
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, together, uneven_responses()).work().cached_tokens, 12 * 3.5);
  // Without stops all are as long as the longest.
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, four_places(), uneven_responses()).work().cached_tokens, 4 * 9);
}

// Three turns whose tools return 4 tokens each time.
Workflow with_tools() {
  Workflow workflow = small_workflow();
  workflow.turns = 3;
  workflow.observation_tokens_per_turn = 4;
  return workflow;
}

TEST(DecodeBatch, TurnsPassWhatTheToolsReturned) {
  // 12 sequences of 3 + 5 tokens; what comes back twice is 4 tokens, or without a prefix cache all before it:
  // 3 + 1 (5/3 + 4) and 3 + 2 (5/3 + 4).
  const TermCase again(kGeneration, on_device(0), with_tools());
  EXPECT_DOUBLE_EQ(again.work().prefill_sequences * 3, 12 * (3 + 23));
  Execution execution;
  execution.shared_prompts = true;
  const TermCase kept(kGeneration, with(on_device(0), execution), with_tools());
  EXPECT_DOUBLE_EQ(kept.work().prefill_sequences * 3, 12 * (1 + 8));
  // Half of the 8 are there in the mean; all at the end.
  const TermCase alone(kGeneration, on_device(0));
  EXPECT_DOUBLE_EQ(again.work().decode_context_tokens - alone.work().decode_context_tokens, 12 * 5 * 4);
  EXPECT_DOUBLE_EQ(again.work().cached_tokens, 12 * (8 + 8));
}

TEST(DecodeBatch, TrainingSeesWhatTheToolsReturned) {
  for (const bool packed : {false, true}) {
    Execution execution;
    execution.packed = packed;
    const TermCase training(kTraining, with(on_device(0), execution), with_tools());
    EXPECT_EQ(training.task.sequence_tokens(), 16);
    EXPECT_DOUBLE_EQ(training.task.attention_tokens, 16);
  }
}

TEST(DecodeBatch, FixedLengthsNeedTheSameStepsEitherWay) {
  for (const Execution& execution : {Execution{}, stopping(), refilling()}) {
    const TermCase fixed(kGeneration, four_places(execution));
    EXPECT_DOUBLE_EQ(fixed.work().decode_steps, 15);
    EXPECT_DOUBLE_EQ(fixed.work().live_sequences(), 4);
    EXPECT_DOUBLE_EQ(fixed.work().decode_context_tokens, 12 * (4 + 5 + 6 + 7 + 8));
  }
}

TEST(DecodeBatch, TheCacheLimitsThePlaces) {
  // A sequence takes 8 tokens * 3 layers * 8 elements * 2 bytes = 384 bytes.
  Execution execution;
  execution.kv_cache_bytes = 4 * 384;
  const TermCase four(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(four.work().decode_together, 4);
  EXPECT_DOUBLE_EQ(four.work().decode_steps, 15);
  execution.kv_cache_bytes = 1;  // one is always let in
  const TermCase one(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(one.work().decode_together, 1);
  execution.kv_cache_bytes = 1e9;
  const TermCase all(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(all.work().decode_together, 12);
  // With places refilled one by one half of the response is there in the mean: 5.5 tokens.
  execution.continuous_batching = true;
  execution.kv_cache_bytes = 4 * 5.5 * 3 * 8 * 2;
  const TermCase refilled(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(refilled.work().decode_together, 4);
  // In 8 bits twice as many.
  execution.cache_precision = Precision::fp8;
  const TermCase eight(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(eight.work().decode_together, 8);
}

TEST(DecodeBatch, TheTightestStageLimitsThePlaces) {
  Execution execution;
  execution.kv_cache_bytes = 8.0 * 2 * 8 * 2 / 2 * 3;  // stage 0: 2 layers of 8 elements over TP 2, 3 sequences
  const TermCase generation(kGeneration, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(generation.work().decode_together, 3);  // stage 1 holds as much: 1 layer on TP 1
}

// Two stages keep each other busy with a batch each, and the two share the places and the KV cache.
TEST(DecodeBatch, StagesShareThePlaces) {
  TaskPlan plan = with(uneven_pipeline(), refilling());
  plan.decode_batch_sequences = 4;
  const TermCase two(kGeneration, plan, uneven_responses());
  EXPECT_DOUBLE_EQ(two.work().decode_batches, 2);
  EXPECT_DOUBLE_EQ(two.work().decode_together, 2);
  // Each stage takes two steps where one stage with all four places takes one (EndedResponsesMakePlace).
  EXPECT_DOUBLE_EQ(two.work().decode_steps, 2 * (8 * 4 / 4.0 + 5.75));
  EXPECT_DOUBLE_EQ(two.work().cached_tokens, 4 * (3 + 2.5));
  // Three sequences fit the cache of stage 0: 2 layers of 8 elements of 2 bytes over TP 2, 5.5 tokens each.
  plan.decode_batch_sequences = 0;
  plan.execution.kv_cache_bytes = 3 * 5.5 * 2 * 8 * 2 / 2;
  const TermCase three(kGeneration, plan, uneven_responses());
  EXPECT_DOUBLE_EQ(three.work().decode_batches, 2);
  EXPECT_DOUBLE_EQ(three.work().decode_together, 1.5);
  EXPECT_DOUBLE_EQ(three.work().cached_tokens, 3 * 5.5);
}

// Without refilling a batch is what the plan says, and a cache for one batch leaves the stages waiting in turn.
TEST(DecodeBatch, TheCacheLimitsTheBatchesInThePipeline) {
  TaskPlan plan = with(uneven_pipeline(), Execution{});
  plan.decode_batch_sequences = 4;
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, plan).work().decode_batches, 2);
  plan.execution.kv_cache_bytes = 4 * 8 * 2 * 8 * 2 / 2;
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, plan).work().decode_batches, 1);
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, plan).work().decode_together, 4);
}

TEST(DecodeBatch, AsynchronousGenerationNeverDrains) {
  Workflow asynchronous = uneven_responses(), one_off = uneven_responses();
  asynchronous.mode = Mode::asynchronous;
  asynchronous.staleness = 1;
  one_off.mode = Mode::one_step_off;
  one_off.staleness = 1;
  const TermCase flowing(kGeneration, four_places(refilling()), asynchronous);
  const TermCase draining(kGeneration, four_places(refilling()), one_off);
  // 12 sequences of 4 tokens in 4 places, without the wait for the last ones.
  EXPECT_DOUBLE_EQ(flowing.work().decode_steps, 12 * 4 / 4.0);
  EXPECT_DOUBLE_EQ(draining.work().decode_steps, 8 * 4 / 4.0 + 5.75);
}

TEST(DecodeBatch, StalenessPutsMoreBatchesOnTheirWay) {
  Workflow asynchronous = uneven_responses();
  asynchronous.mode = Mode::asynchronous;
  asynchronous.staleness = 3;
  const TermCase flowing(kGeneration, with(on_device(0), refilling()), asynchronous);
  // 36 of 12 a batch: a batch is done after a third of the mean response.
  EXPECT_DOUBLE_EQ(flowing.work().decode_together, 36);
  EXPECT_DOUBLE_EQ(flowing.work().decode_steps, 4 / 3.0);
  EXPECT_DOUBLE_EQ(flowing.work().live_sequences(), 36);
}

// 4 replicas with 3 sequences each, all decoded at once, or two after another.
TaskPlan a_replica_each(int places, const Execution& execution) {
  TaskPlan plan =
      with(plan_of({{stage(3, {0})}, {stage(3, {1})}, {stage(3, {2})}, {stage(3, {3})}}), execution);
  plan.decode_batch_sequences = places;
  return plan;
}

TEST(DecodeBatch, AllReplicasWaitForTheLongestOfAll) {
  // A sequence in each of four replicas: the task takes the longest of four, not the mean.
  Workflow four = uneven_responses();
  four.prompts = 4;
  four.responses_per_prompt = 1;
  for (const Execution& execution : {stopping(), refilling()}) {
    const TermCase each(kGeneration, a_replica_each(1, execution), four);
    EXPECT_DOUBLE_EQ(each.work().decode_steps, 5.75);
  }
  // Three in each, one after the other: the places of all replicas hold their last four at the end.
  const TermCase waves(kGeneration, a_replica_each(1, stopping()), uneven_responses());
  EXPECT_DOUBLE_EQ(waves.work().decode_steps, 2 * 4 + 5.75);
  const TermCase places(kGeneration, a_replica_each(1, refilling()), uneven_responses());
  EXPECT_DOUBLE_EQ(places.work().decode_steps, 2 * 4 + 5.75);
  // One replica with the same places as all of them together ends with the same last response.
  const TermCase alone(kGeneration, four_places(refilling()), uneven_responses());
  EXPECT_DOUBLE_EQ(alone.work().decode_steps, 8 * 4 / 4.0 + 5.75);
}

}  // namespace
}  // namespace sextant::test
