// How old trained tokens are: values worked out by hand, and what must hold of all.
#include "costmodel/staleness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "costmodel/problem/work.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kRounding = 1e-12;

Workflow asynchronous(double staleness, int parts = 1) {
  Workflow workflow = small_workflow(Mode::asynchronous);
  workflow.staleness = staleness;
  workflow.streamed_parts = parts;
  return workflow;
}

auto near(double value) { return DoubleNear(value, kRounding); }

TEST(Staleness, SlowerGenerationIsAheadWhileTrainingRuns) {
  // The next batch takes 30 s, 24 s of them before training publishes: 0.8 of its tokens are one version old.
  EXPECT_THAT(staleness_fractions(asynchronous(1), {30, 24, true, 0}), ElementsAre(near(0.2), near(0.8)));
  // In four parts, training ends 24 / 4 = 6 s after the last part: 6 / 30.
  EXPECT_THAT(staleness_fractions(asynchronous(1, 4), {30, 24, true, 0}), ElementsAre(near(0.8), near(0.2)));
  // It ends R / c = 7.25 s after the last part. That is later than 29 s after the first part, 22.5 s before.
  EXPECT_THAT(staleness_fractions(asynchronous(1, 4), {30, 29, true, 0}),
              ElementsAre(near(1 - 7.25 / 30), near(7.25 / 30)));
}

TEST(Staleness, FasterGenerationIsAsOldAsItMayBe) {
  EXPECT_THAT(staleness_fractions(asynchronous(1), {12, 24, true, 0}), ElementsAre(0, 1));
  // Half a batch more than two are ahead: half of the tokens are 3 old, half 2.
  EXPECT_THAT(staleness_fractions(asynchronous(2.5), {12, 24, true, 0}), ElementsAre(0, 0, 0.5, 0.5));
  // 0.8 of a batch could be ahead, half of one may.
  EXPECT_THAT(staleness_fractions(asynchronous(0.5), {30, 24, true, 0}), ElementsAre(0.5, 0.5));
  EXPECT_THAT(staleness_fractions(asynchronous(0), {30, 24, true, 0}), ElementsAre(1));
}

TEST(Staleness, LongResponsesSpanSeveralVersions) {
  // a = 0.8; w = 3: x = v + 3 u. P(x <= y) = (I(y) - I(y - 3)) / 3 with I(y) = y^2 / 2 below 1, y - 1/2 above.
  //   at most 0 old: x <= 0.2, 0.02 / 3        at most 1: x <= 1.2, 0.7 / 3
  //   at most 2 old: x <= 2.2, 1.7 / 3         the rest: 3, the bound, though some would be 4
  const std::vector<double> fractions = staleness_fractions(asynchronous(3), {30, 24, true, 3});
  EXPECT_THAT(fractions, ElementsAre(near(0.02 / 3), near(0.68 / 3), near(1.0 / 3), near(1.3 / 3)));
  EXPECT_NEAR(mean_staleness(fractions), (0.68 + 2 + 3.9) / 3, kRounding);
  // With a bound that nothing reaches, 0.8 + 3 / 2.
  EXPECT_NEAR(mean_staleness(staleness_fractions(asynchronous(9), {30, 24, true, 3})), 2.3, kRounding);
}

TEST(Staleness, OneStepOffIsOneVersionOld) {
  for (const double generation_s : {1.0, 100.0})
    EXPECT_THAT(staleness_fractions(small_workflow(Mode::one_step_off), {generation_s, 10, true, 0}),
                ElementsAre(0, 1));
}

TEST(Staleness, SynchronousTokensAreFreshButForResumedResponses) {
  EXPECT_THAT(staleness_fractions(small_workflow(), {30, 24, false, 0}), IsEmpty());
  // Half as many go on as are finished, x = v + u / 2: P(x <= 1) = (1/2 - 1/8) / (1/2) = 3/4.
  EXPECT_THAT(staleness_fractions(small_workflow(), {30, 24, false, 0.5}), ElementsAre(0.75, 0.25));
}

TEST(Staleness, FractionsSumToOneAndKeepTheBound) {
  std::mt19937 random(38);
  const auto drawn = [&](double maximum) { return std::uniform_real_distribution<double>(0, maximum)(random); };
  for (int i = 0; i < 1000; ++i) {
    const Workflow workflow = asynchronous(drawn(4), 1 + static_cast<int>(random() % 4));
    const StalenessInputs inputs{drawn(10), drawn(10), random() % 4 != 0, random() % 2 == 0 ? 0 : drawn(4)};
    const std::vector<double> fractions = staleness_fractions(workflow, inputs);
    EXPECT_NEAR(std::accumulate(fractions.begin(), fractions.end(), 0.0), 1, 1e-9);
    for (const double fraction : fractions) EXPECT_GE(fraction, -kRounding);
    EXPECT_LE(mean_staleness(fractions), workflow.staleness + kRounding);
  }
}

TEST(Staleness, OfAPredictionFollowsFromItsTimes) {
  // Generation on a slow device, the rest on a fast one: training is the slower side, so tokens are as old as
  // the bound. On the device of the others nothing is made ahead.
  const Cluster cluster = small_cluster();
  Plan apart;
  for (const Task& task : small_workflow().tasks)
    apart.tasks[task.name] = on_device(task.kind == TaskKind::generation ? 2 : 0);
  Plan together;
  for (const Task& task : small_workflow().tasks) together.tasks[task.name] = on_device(0);
  const Prediction stale = predict(cluster, asynchronous(2), apart, {});
  EXPECT_LT(stale.tasks.at("actor_generation").time_s, stale.iteration_s);
  EXPECT_EQ(stale.mean_staleness(), 2);
  EXPECT_THAT(predict(cluster, asynchronous(2), together, {}).staleness_fractions, ElementsAre(1));
  EXPECT_THAT(predict(cluster, small_workflow(), apart, {}).staleness_fractions, IsEmpty());
}

TEST(CarriedSequences, AreThoseInPlacesOrThoseThatAreResumed) {
  const Cluster cluster = small_cluster();
  const auto carried = [&](const Workflow& workflow, bool continuous) {
    TaskPlan plan = on_device(0);
    plan.execution.continuous_batching = continuous;
    return carried_sequences(work_of(workflow.task("actor_generation"), plan, workflow, cluster), workflow);
  };
  EXPECT_EQ(carried(small_workflow(), true), 0);
  EXPECT_EQ(carried(asynchronous(3), false), 0);        // every batch is made by itself
  EXPECT_DOUBLE_EQ(carried(asynchronous(3), true), 3);  // 36 in places, 12 finished in an iteration
  Workflow resumed = small_workflow();
  resumed.rollout.unfinished = Unfinished::resumed;
  resumed.rollout.started_prompts = 6;  // of 4 in a batch
  EXPECT_DOUBLE_EQ(carried(resumed, true), 0.5);
}

}  // namespace
}  // namespace sextant::test
