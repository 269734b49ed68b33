// Batches that are filled by dynamic sampling, over-sampling and partial rollouts, worked out by hand:
// rollout.h.
#include "sextant/rollout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/iteration.h"
#include "costmodel/terms/overhead.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

// 4 prompts with 3 responses of 2 or 6 tokens, after 3 tokens of prompt.
Workflow filled_by(const RolloutRules& rollout, Mode mode = Mode::synchronous) {
  Workflow workflow = small_workflow(mode);
  workflow.response_tokens = two_or_six();
  workflow.rollout = rollout;
  return workflow;
}

RolloutRules sampling(double kept, int started, Unfinished unfinished = Unfinished::waited_for) {
  RolloutRules rollout;
  rollout.kept_fraction = kept;
  rollout.started_prompts = started;
  rollout.unfinished = unfinished;
  return rollout;
}

// All sequences decode together unless places are few.
TaskPlan engine(int places = 0) {
  TaskPlan plan = on_device(0);
  plan.execution.continuous_batching = true;
  plan.execution.packed = true;
  plan.decode_batch_sequences = places;
  return plan;
}

TEST(Rollout, ARoundFollowsWhereTooFewPromptsWereKept) {
  const TermCase half(kGeneration, engine(), filled_by(sampling(0.5, 0)));
  // Two rounds of 12, each until its longest of 12.
  EXPECT_DOUBLE_EQ(half.work().decode_steps, 2 * (6 - 4 * std::pow(0.5, 12)));
  EXPECT_DOUBLE_EQ(half.work().decode_tokens, 24 * 4);
  EXPECT_DOUBLE_EQ(half.work().prefill_sequences, 24);
  EXPECT_DOUBLE_EQ(half.work().decode_together, 12);
  // A third of three prompts a round: 4 are four rounds.
  EXPECT_DOUBLE_EQ(rollout_batch(filled_by(sampling(1.0 / 3, 3))).rounds, 4);
}

TEST(Rollout, StartingMorePromptsSavesARound) {
  const TermCase together(kGeneration, engine(), filled_by(sampling(0.5, 8)));
  EXPECT_DOUBLE_EQ(together.work().decode_steps, 6 - 4 * std::pow(0.5, 24));
  EXPECT_DOUBLE_EQ(together.work().decode_tokens, 24 * 4);
  EXPECT_DOUBLE_EQ(together.work().decode_together, 24);
}

// A prompt is ready when its three responses are. Of 64 four are needed: a sixteenth, and the three responses
// of more than that, an eighth, all have 2 tokens.
TEST(Rollout, WhatIsNotReadyIsThrownAway) {
  const TermCase cut(kGeneration, engine(), filled_by(sampling(1, 64, Unfinished::discarded)));
  EXPECT_DOUBLE_EQ(cut.work().decode_steps, 2);
  EXPECT_DOUBLE_EQ(cut.work().decode_tokens, 192 * 2);
  // A quarter of 16 is needed, which is more than an eighth.
  const TermCase whole(kGeneration, engine(), filled_by(sampling(1, 16, Unfinished::discarded)));
  EXPECT_DOUBLE_EQ(whole.work().decode_tokens, 48 * 4);
}

TEST(Rollout, WhatIsNotReadyGoesOnInTheNextIteration) {
  const Workflow workflow = filled_by(sampling(1, 8, Unfinished::resumed));
  const TermCase resumed(kGeneration, engine(), workflow);
  // 12 of 24 are finished in an iteration, while 24 places are always taken.
  EXPECT_DOUBLE_EQ(resumed.work().decode_together, 24);
  EXPECT_DOUBLE_EQ(resumed.work().decode_steps, 12 * 4 / 24.0);
  EXPECT_DOUBLE_EQ(resumed.work().decode_tokens, 12 * 4);
  // A response met at random has 20 / (2 * 4) tokens; 12 of them pass the layers again with their prompts.
  EXPECT_DOUBLE_EQ(resumed.work().cached_tokens, 24 * 5.5);
  EXPECT_DOUBLE_EQ(resumed.work().prefill_sequences, 12 + 12 * 5.5 / 3);
  const TermCase few(kGeneration, engine(4), workflow);
  EXPECT_DOUBLE_EQ(few.work().decode_steps, 12);
  EXPECT_DOUBLE_EQ(few.work().prefill_sequences, 12 + 4 * 5.5 / 3);
}

TEST(Rollout, NewWeightsInterruptWhatRuns) {
  RolloutRules rollout;
  const TermCase goes_on(kGeneration, engine(), filled_by(rollout, Mode::asynchronous));
  rollout.is_interrupted = true;
  const TermCase stopped(kGeneration, engine(), filled_by(rollout, Mode::asynchronous));
  EXPECT_DOUBLE_EQ(goes_on.work().prefill_sequences, 12);
  EXPECT_DOUBLE_EQ(stopped.work().prefill_sequences, 12 + 12 * 5.5 / 3);
}

TEST(Rollout, EnvironmentsTakeTheLongestChainOrTheirTurn) {
  Workflow workflow = filled_by({});
  workflow.turns = 3;
  workflow.environment_s_per_turn = 5;
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, engine(), workflow).task.environment_s, 10);
  workflow.rollout.environment_deviation_s_per_turn = 2;
  workflow.rollout.environments = 4;
  const TermCase few(kGeneration, engine(), workflow);
  const double chain = 10 + 2 * std::sqrt(2 * 2 * std::log(12));
  EXPECT_DOUBLE_EQ(few.task.environment_s, chain);
  // 24 waits of 5 s in 4 environments.
  EXPECT_DOUBLE_EQ(few.task.environments_s, 30);
  EXPECT_DOUBLE_EQ(terms::environments_wait_s(few.task, 2.0 + chain), 30 - chain - 2);
  EXPECT_DOUBLE_EQ(terms::environments_wait_s(few.task, 100.0), 0);
}

// An engine with batches under way decodes others while sequences wait (Little's law); one that drains does not.
TEST(Rollout, WaitsForEnvironmentsAreHiddenByOtherBatches) {
  Workflow workflow = filled_by({}, Mode::asynchronous);
  workflow.turns = 3;
  workflow.environment_s_per_turn = 5;
  workflow.staleness = 4;
  const auto waits_s = [&](int places, double time_s) {
    const TermCase with(kGeneration, engine(places), workflow);
    return terms::turns_wait_s(with.task, with.work(), time_s);
  };
  // All of four batches decode together: 10 s of waits in each of four intervals.
  EXPECT_DOUBLE_EQ(waits_s(0, 8), 10.0 / 4);
  // 12 at once, a batch: a sequence takes 8 + 10 s, and four batches are under way.
  EXPECT_DOUBLE_EQ(waits_s(12, 8), 0);
  EXPECT_DOUBLE_EQ(waits_s(12, 2), (2.0 + 10) / 4 - 2);
  // The workflow may say how many batches there are: AReaL admits one more than the staleness.
  workflow.rollout.batches_in_flight = 5;
  EXPECT_DOUBLE_EQ(waits_s(0, 8), 10.0 / 5);
  workflow.rollout.batches_in_flight = 0;
  workflow.mode = Mode::one_step_off;
  workflow.staleness = 1;
  EXPECT_DOUBLE_EQ(waits_s(12, 8), 10);
}

TEST(Rollout, RewardsAreOfAllThatIsGeneratedOrBesideIt) {
  Workflow workflow = filled_by(sampling(0.5, 0));
  workflow.rule_reward_s_per_sequence = 0.5;
  EXPECT_DOUBLE_EQ(rule_reward_s(workflow), 24 * 0.5);
  workflow.rollout.reward_workers = 4;
  EXPECT_DOUBLE_EQ(rule_reward_s(workflow), 24 * 0.5 / 4);
  workflow.rollout.reward_workers = 100;
  EXPECT_DOUBLE_EQ(rule_reward_s(workflow), 0.5);
}

// Beside generation the last response waits for its own reward, and all for the workers where these are slower.
TEST(Rollout, RewardsBesideGenerationAreAPartOfIt) {
  Workflow workflow = filled_by({});
  workflow.rule_reward_s_per_sequence = 0.5;
  workflow.rollout.has_rewards_beside = true;
  EXPECT_DOUBLE_EQ(rule_reward_s(workflow), 0);
  const TermCase serial(kGeneration, engine(), workflow);
  EXPECT_DOUBLE_EQ(serial.task.environment_s, 0.5);
  EXPECT_DOUBLE_EQ(serial.task.environments_s, 6);  // 12 responses
  EXPECT_DOUBLE_EQ(terms::environments_wait_s(serial.task, 2.5), 3.5);
  workflow.rollout.reward_workers = 4;
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, engine(), workflow).task.environments_s, 1.5);
  // With turns: whichever is slower, environments or workers.
  workflow.turns = 3;
  workflow.environment_s_per_turn = 5;
  workflow.rollout.environments = 4;
  const TermCase turns(kGeneration, engine(), workflow);
  EXPECT_DOUBLE_EQ(turns.task.environment_s, 10.5);
  EXPECT_DOUBLE_EQ(turns.task.environments_s, 30);
}

// The trained batch is the same however it is filled.
TEST(Rollout, LeavesTrainingAlone) {
  const TaskPlan plan = on_device(0);
  const TermCase usual(kTraining, plan, filled_by({}));
  for (const Unfinished unfinished : {Unfinished::waited_for, Unfinished::discarded, Unfinished::resumed}) {
    const TermCase filled(kTraining, plan, filled_by(sampling(0.5, 16, unfinished)));
    EXPECT_EQ(task_cost(filled.problem(), filled.task).time_s, task_cost(usual.problem(), usual.task).time_s);
  }
}

// The fewer prompts are kept, the longer generation takes, whatever becomes of the rest.
TEST(Rollout, KeepingLessIsNeverFaster) {
  for (const Unfinished unfinished : {Unfinished::waited_for, Unfinished::resumed}) {
    double before_s = 0;
    for (const double kept : {1.0, 0.8, 0.5, 0.3, 0.1}) {
      const TermCase filled(kGeneration, engine(4), filled_by(sampling(kept, 8, unfinished)));
      const double time_s = task_cost(filled.problem(), filled.task).time_s;
      EXPECT_GE(time_s, before_s) << kept;
      before_s = time_s;
    }
  }
}

}  // namespace
}  // namespace sextant::test
