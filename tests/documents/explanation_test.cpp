#include "documents/explanation.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

TEST(ExplanationTest, HoldsWhatWasFoundAndWhatWasNot) {
  const auto explanation = load_fixture<Explanation>("explanation.json");
  double whole = 0;
  for (const TimePart& part : explanation.parts) whole += part.seconds;
  EXPECT_NEAR(whole, explanation.iteration_s, 1e-9);
  ASSERT_EQ(explanation.alternatives.size(), 3U);
  EXPECT_TRUE(explanation.alternatives[0].is_same);
  EXPECT_GT(explanation.alternatives[1].ratio, 1);
  EXPECT_EQ(explanation.alternatives[2].outcome, PlanOutcome::infeasible);
  EXPECT_EQ(explanation.flips.back().to, "");
  ASSERT_EQ(explanation.what_ifs.size(), 2U);
  EXPECT_EQ(explanation.what_ifs[0].changes.size(), 2U);
  EXPECT_FALSE(explanation.what_ifs[1].message.empty());
}

TEST(ExplanationTest, RefusesWhatDoesNotFitTogether) {
  Json json = fixture_body("explanation.json");
  json["devices"][0]["used"] = 5;
  EXPECT_EQ(refusal_as<Explanation>(json), "/devices/0/used: more than \"devices\"");
  json = fixture_body("explanation.json");
  json["alternatives"][1]["chance"]["ratio_90"] = {{"low", 2}, {"high", 1}};
  EXPECT_EQ(refusal_as<Explanation>(json), "/alternatives/1/chance/ratio_90: low is above high");
}

}  // namespace
}  // namespace sextant
