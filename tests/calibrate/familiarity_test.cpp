#include "calibrate/familiarity.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::test {
namespace {

TEST(Familiarity, NothingOfTheKindWasCalibrated) {
  TaskExperience asked;
  asked.kind = TaskKind::generation;
  asked.parameters = 1e9;
  TaskExperience seen = asked;
  seen.kind = TaskKind::training;
  seen.run = "training-only";
  const Familiarity familiarity = familiarity_of(asked, {seen});
  EXPECT_TRUE(familiarity.extrapolating());
  EXPECT_EQ(familiarity.nearest_run, "");
}

TEST(Familiarity, StepsOutsideAreAllNumbersTogether) {
  TaskExperience small;
  small.kind = TaskKind::training;
  small.parameters = 1e9;
  small.sequence_tokens = 1000;
  TaskExperience large = small;
  large.parameters = 4e9;
  TaskExperience asked = small;
  asked.parameters = 2e9;
  EXPECT_EQ(steps_outside(asked, {small, large}), 0);
  asked.parameters = 16e9;
  asked.sequence_tokens = 250;
  EXPECT_NEAR(steps_outside(asked, {small, large}), std::sqrt(2), 1e-12);
  asked.kind = TaskKind::generation;
  EXPECT_EQ(steps_outside(asked, {small, large}), kFarDistance);
}

TEST(Familiarity, NamesAnUnknownFramework) {
  TaskExperience seen;
  seen.framework = "verl-fsdp";
  TaskExperience asked = seen;
  EXPECT_FALSE(familiarity_of(asked, {seen}).extrapolating());
  asked.framework = "verl";
  const Familiarity familiarity = familiarity_of(asked, {seen});
  ASSERT_EQ(familiarity.reasons.size(), 1U);
  EXPECT_EQ(familiarity.reasons[0],
            "no " + std::string(name_of(asked.kind)) + " of framework verl was calibrated");
}

TEST(Familiarity, NamesAnUnknownDeviceAndWhatLiesOutside) {
  TaskExperience seen;
  seen.run = "small";
  seen.device_types = {"a100"};
  seen.parameters = 1e9;
  seen.sequence_tokens = 1000;
  seen.replica_sequences = 8;
  TaskExperience asked = seen;
  asked.device_types = {"h200"};
  asked.parameters = 7e10;
  asked.nodes = 2;
  const Familiarity familiarity = familiarity_of(asked, {seen});
  ASSERT_EQ(familiarity.reasons.size(), 3U);
  EXPECT_EQ(familiarity.reasons[0], "no inference on h200 was calibrated");
  EXPECT_EQ(familiarity.reasons[1], "no inference on several nodes was calibrated");
  EXPECT_EQ(familiarity.reasons[2], "70.0 billion parameters, calibrated up to 1.00 billion");
  // Four doublings of two: parameters ln 70 / ln 4, nodes half a step, another device 1.5.
  const double steps = std::log(70) / std::log(4);
  EXPECT_NEAR(familiarity.distance, std::sqrt(steps * steps + 0.25 + 2.25), 1e-9);
}

TEST(Familiarity, CountsAreWholeNumbersWithTheirNouns) {
  TaskExperience seen;
  seen.run = "small";
  seen.data_parallel = 16;
  TaskExperience asked = seen;
  asked.data_parallel = 80;
  const Familiarity familiarity = familiarity_of(asked, {seen});
  ASSERT_EQ(familiarity.reasons.size(), 1U);
  EXPECT_EQ(familiarity.reasons[0], "80 replicas, calibrated up to 16");
}

// In sample 0.02 from one run and reruns as three: root of (0.0004 + 3 * 0.01) / 4. Held-out runs know better.
TEST(Deviations, OfFewRunsAreThoseOfReruns) {
  FitSummary fit;
  fit.runs = {"one"};
  fit.task_log_deviation = 0.02;
  EXPECT_NEAR(deviations_near(fit).task, std::sqrt(0.0304 / 4), 1e-12);
  EXPECT_NEAR(deviations_near(fit).iteration, std::sqrt(0.0304 / 4), 1e-12);  // no run has one
  fit.runs.assign(97, "many");
  EXPECT_NEAR(deviations_near(fit).task, std::sqrt((97 * 0.0004 + 0.03) / 100), 1e-12);
  fit.held_out.emplace().tasks = 5;
  fit.held_out->task_log_deviation = 0.01;
  EXPECT_EQ(deviations_near(fit).task, 0.01);
}

// 1 - exp(-1) = 0.632 of the variance before comes back at one step, all of it far away.
TEST(Deviations, OfTheFitBeforeComeBackWithTheDistance) {
  FitSummary fit;
  fit.held_out.emplace().tasks = 5;
  fit.held_out->iterations = 5;
  fit.held_out->task_log_deviation = fit.held_out->iteration_log_deviation = 0.1;
  EXPECT_EQ(deviations_far(fit).task, 0.1);
  fit.started_from = ModelDeviations{0.3, 0.4, 0.05};
  EXPECT_EQ(deviations_at(fit, 0).iteration, 0.1);
  EXPECT_NEAR(deviations_at(fit, 1).iteration, std::sqrt(0.01 + 0.6321205588 * 0.16), 1e-9);
  EXPECT_NEAR(deviations_far(fit).task, std::sqrt(0.01 + 0.09), 1e-12);
  EXPECT_NEAR(deviations_far(fit).memory, 0.05, 1e-12);
}

}  // namespace
}  // namespace sextant::test
