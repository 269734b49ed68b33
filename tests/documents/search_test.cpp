#include "sextant/search.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

TEST(SearchTest, HoldsRequestAnswerAndBounds) {
  const auto search = load_fixture<SearchRecord>("search.json");
  EXPECT_EQ(search.planner, "exact");
  EXPECT_EQ(search.budget_s, 60);
  EXPECT_EQ(search.budget_evaluations, 250U);
  EXPECT_EQ(search.outcome, PlanOutcome::found);
  EXPECT_EQ(search.proof, Proof::gap);
  EXPECT_EQ(search.nodes, 250U);
  ASSERT_EQ(search.curve.size(), 2U);
  EXPECT_EQ(search.curve.back().evaluations, 2U);
  EXPECT_EQ(search.curve.back().iteration_s, search.iteration_s);
  // 113.2 ms of at least 73.9 ms; and of at least 102.6 ms in the planner's own space.
  EXPECT_NEAR(search.gap_fraction(), 0.53, 0.005);
  EXPECT_NEAR(*search.space_gap_fraction, 0.10, 0.005);
}

// Rounding may put a plan that is at the bound a hair below it.
TEST(SearchTest, AGapIsNeverNegative) {
  SearchRecord search;
  search.lower_bound_s = 1;
  search.iteration_s = 1 - 1e-12;
  EXPECT_EQ(search.gap_fraction(), 0);
}

TEST(SearchTest, APlanMayCostNothing) {
  Json json = fixture_body("search.json");
  json["goal"] = "cost";
  for (const char* dollars : {"usd_per_hour", "usd_per_iteration", "usd_per_token", "lower_bound_usd"})
    json[dollars] = 0;
  for (Json& point : json["curve"]) point["loss"] = 0;  // of which the later is faster
  const auto search = parse_as<SearchRecord>(json);
  EXPECT_EQ(search.usd_gap_fraction(), 0);
  EXPECT_EQ(parse_as<SearchRecord>(search.to_json()), search);
  json["usd_per_iteration"] = 1;
  EXPECT_FALSE(parse_as<SearchRecord>(json).usd_gap_fraction()) << "a bound of zero says nothing";
}

TEST(SearchTest, RefusesACurveThatRises) {
  Json json = fixture_body("search.json");
  json["curve"][1]["iteration_s"] = json["curve"][0]["iteration_s"];
  EXPECT_EQ(refusal_as<SearchRecord>(json), "/curve/1/iteration_s: no better than the point before");
  json = fixture_body("search.json");
  json["curve"][1]["evaluations"] = 0;
  EXPECT_EQ(refusal_as<SearchRecord>(json), "/curve/1/evaluations: fewer than at the point before");
}

TEST(SearchTest, RefusesAGapThatDoesNotFollow) {
  Json json = fixture_body("search.json");
  json["gap_fraction"] = 0.1;
  EXPECT_EQ(refusal_as<SearchRecord>(json), "/gap_fraction: is not iteration_s / lower_bound_s - 1");
}

}  // namespace
}  // namespace sextant
