#include "sextant/prediction.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

TEST(PredictionTest, ReadsTheFixture) {
  const auto prediction = load_fixture<Prediction>("prediction.json");
  EXPECT_EQ(prediction.iteration_interval_s, (Interval{1.75, 2.5}));
  EXPECT_EQ(prediction.weight_sync_interval_s, (Interval{0.125, 0.5}));
  const TaskPrediction& training = prediction.tasks.at("actor_training");
  EXPECT_EQ(training.terms_s.at(Term::bubble), 0.125);
  EXPECT_EQ(training.devices.size(), 4U);
  EXPECT_EQ(prediction.memory.at(1).device, DeviceId{4});
  EXPECT_TRUE(prediction.fits());
}

TEST(PredictionTest, FitsOnlyWhenEveryDeviceDoes) {
  auto prediction = load_fixture<Prediction>("prediction.json");
  DeviceMemory& memory = prediction.memory[1];
  memory.working_bytes = memory.capacity_bytes - memory.resident_bytes;
  EXPECT_TRUE(prediction.fits());
  memory.working_bytes += 1;
  EXPECT_FALSE(prediction.fits());
}

TEST(PredictionTest, SaysHowSureItIsThatMemorySuffices) {
  const auto prediction = load_fixture<Prediction>("prediction_trust.json");
  const DeviceMemory& memory = prediction.memory.front();
  EXPECT_EQ(memory.trust, (MemoryTrust{{3e9, 5e9}, 0.875}));
  EXPECT_EQ(describe_fit(memory.fits(), memory.trust), "uncertain (88 %)");
  EXPECT_EQ(describe_fit(true, MemoryTrust{{3e9, 5e9}, 0.96}), "fits");
  EXPECT_EQ(describe_fit(false, MemoryTrust{{3e9, 5e9}, 0.04}), "does not fit");
  EXPECT_EQ(describe_fit(true, std::nullopt), "fits");
  EXPECT_EQ(describe_fit(false, std::nullopt), "does not fit");
}

TEST(PredictionTest, TermsHaveDifferentNames) {
  Prediction prediction = load_fixture<Prediction>("prediction.json");
  auto& terms = prediction.tasks.at("actor_training").terms_s;
  for (int term = 0; term < kTermCount; ++term) terms[static_cast<Term>(term)] = term;
  EXPECT_EQ(parse_as<Prediction>(prediction.to_json()), prediction);
}

TEST(PredictionTest, SaysHowFarItsRowsOverlap) {
  Prediction prediction;
  prediction.tasks["a"].time_s = 3;
  prediction.tasks["b"].time_s = 4;
  prediction.weight_sync_s = 1;
  prediction.controller_s = 0.5;
  prediction.rule_reward_s = 0.25;
  prediction.iteration_s = 8.75;
  EXPECT_EQ(prediction.overlapped_s(), 0);
  prediction.iteration_s = 5.75;  // b runs at the same time as a
  EXPECT_DOUBLE_EQ(prediction.overlapped_s(), 3);
  prediction.workflow = prediction.plan = prediction.cluster = "x";
  prediction.notes = {"Assumed."};
  Json json = prediction.to_json();
  EXPECT_EQ(json["controller_s"], 0.5);
  EXPECT_EQ(json["overlapped_s"], 3);
  EXPECT_EQ(parse_as<Prediction>(json), prediction);
  json["overlapped_s"] = 2;
  EXPECT_EQ(refusal_as<Prediction>(json),
            "/overlapped_s: is not the sum of the tasks, the weight sync, the controller and the rewards less "
            "iteration_s");
}

TEST(PredictionTest, KeepsHowOldTheTrainedTokensAre) {
  Prediction prediction = load_fixture<Prediction>("prediction.json");
  EXPECT_FALSE(prediction.to_json().contains("staleness"));
  prediction.staleness_fractions = {0.25, 0.5, 0.25};
  EXPECT_EQ(prediction.mean_staleness(), 1);
  Json json = prediction.to_json();
  EXPECT_EQ(json["staleness"]["mean"], 1);
  EXPECT_EQ(parse_as<Prediction>(json), prediction);
  json["staleness"]["mean"] = 0.5;
  EXPECT_EQ(refusal_as<Prediction>(json), "/staleness/mean: is not the mean of the fractions");
  json["staleness"]["fractions"] = {0.25, 0.5};
  EXPECT_EQ(refusal_as<Prediction>(json), "/staleness/fractions: do not sum to 1");
}

TEST(PredictionTest, Refuses) {
  Json json = fixture_body("prediction.json");
  json["tasks"]["actor_training"]["terms_s"]["waiting"] = 1;
  EXPECT_EQ(refusal_as<Prediction>(json),
            "/tasks/actor_training/terms_s/waiting: unknown member; known ones are compute, tensor_parallel, "
            "pipeline_parallel, bubble, data_parallel, decode, optimizer, "
            "context_parallel, expert_parallel, weight_gather, offload, overhead, stragglers, "
            "uneven_lengths");
  json = fixture_body("prediction.json");
  json["iteration_interval_s"]["low"] = 3;
  EXPECT_EQ(refusal_as<Prediction>(json), "/iteration_interval_s/high: expected at least \"low\"");
  json = fixture_body("prediction.json");
  json["iteration_s"] = -1;
  EXPECT_EQ(refusal_as<Prediction>(json), "/iteration_s: expected a number >= 0, got -1");
}

}  // namespace
}  // namespace sextant
