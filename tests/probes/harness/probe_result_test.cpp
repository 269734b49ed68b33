#include "probes/harness/probe_result.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant {
namespace {

Sampled sampled(StopReason reason) { return summarise_samples({0.1, 0.1, 0.2}, 4, reason, 0.02); }

TEST(ProbeResult, RateIsWorkByTheMedianTime) {
  const ProbeResult result = rate_result("memory/read", "bytes/s", 1000, sampled(StopReason::converged));
  EXPECT_DOUBLE_EQ(result.value, 10000);
  EXPECT_EQ(result.outcome, ProbeOutcome::measured);
  EXPECT_EQ(result.operations_per_sample, 4);
  EXPECT_EQ(result.samples_s, (std::vector<double>{0.1, 0.1, 0.2}));
}

TEST(ProbeResult, TimeOfAMessageIsHalfARoundTrip) {
  const ProbeResult result = time_result("link/8", 0.5, sampled(StopReason::converged));
  EXPECT_DOUBLE_EQ(result.value, 0.05);
  EXPECT_EQ(result.unit, "s");
  EXPECT_DOUBLE_EQ(result.samples_s.back(), 0.1);
}

TEST(ProbeResult, WithoutConvergenceItIsNoisyAndStillHasAValue) {
  const ProbeResult result = rate_result("x", "flop/s", 1, sampled(StopReason::budget));
  EXPECT_EQ(result.outcome, ProbeOutcome::noisy);
  EXPECT_TRUE(result.has_value());
}

TEST(ProbeResult, WaivedAndFailedHaveNoValueAndSayWhy) {
  const ProbeResult waived = waived_result("gemm/bf16/256", "flop/s", "no bf16 here");
  EXPECT_FALSE(waived.has_value());
  EXPECT_EQ(waived.sentence, "no bf16 here");
  const ProbeResult failed =
      failed_result(rate_result("x", "flop/s", 1, sampled(StopReason::converged)), "wrong data");
  EXPECT_FALSE(failed.has_value());
  EXPECT_EQ(failed.value, 0);
  EXPECT_EQ(failed.samples_s.size(), 3U);
}

TEST(ProbeResult, RoundTripsThroughJsonExactly) {
  ProbeResult result = rate_result("memory/read", "bytes/s", 1.0 / 3, sampled(StopReason::budget));
  result.rank = 3;
  EXPECT_EQ(ProbeResult::parse(JsonView(parse_json(format_json(result.to_json())))), result);
  result.peer = 5;
  EXPECT_EQ(ProbeResult::parse(JsonView(parse_json(format_json(result.to_json())))), result);
}

TEST(ProbeResult, ParsingRefusesAnUnknownOutcome) {
  Json json = waived_result("x", "s", "why").to_json();
  json["outcome"] = "perfect";
  EXPECT_THROW(static_cast<void>(ProbeResult::parse(JsonView(json))), Error);
}

}  // namespace
}  // namespace sextant
