#include "calibrate/familiarity.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant::testing {
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

}  // namespace
}  // namespace sextant::testing
