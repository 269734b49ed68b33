// The document comes back as it was, and what is wrong in it is named by its path.
#include "lab/reproduce/reproduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/json_value.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kFixture = std::filesystem::path(SEXTANT_TEST_DATA) / "reproduction.json";

Json fixture() { return load_document<Reproduction>(kFixture).content.to_json(); }

std::string refusal(const Json& json) {
  return refusal_of([&] { (void)Reproduction::parse(JsonView(json)); });
}

TEST(Reproduction, RoundTrips) {
  const auto first = load_document<Reproduction>(kFixture);
  const std::string text = format_document(first);
  const auto second = parse_document<Reproduction>(text);
  EXPECT_EQ(second.content, first.content);
  EXPECT_EQ(second.provenance, first.provenance);
  EXPECT_EQ(format_document(second), text);
  ASSERT_EQ(first.content.experiments.size(), 1U);
  EXPECT_EQ(first.content.experiments[0].cells.at(0).plans.at(0).candidates, 141U);
  EXPECT_FALSE(first.content.experiments[0].cells.at(0).plans.at(2).has_plan());
  EXPECT_EQ(first.content.experiments[0].causes.at(0).group, "single-region: sha-ea over streamrl");
  EXPECT_EQ(first.content.experiments[0].contradictions.size(), 1U);
}

TEST(Reproduction, TheOneInDocsIsOne) {
  const std::filesystem::path docs = std::filesystem::path(SEXTANT_SOURCE_DIR) / "docs";
  const auto stated = load_document<Reproduction>(docs / "reproduce.json").content;
  EXPECT_EQ(stated.experiments.size(), 5U);
  EXPECT_FALSE(stated.was_interrupted);
  const std::string page = read_text_file(docs / "reproduce.md");
  const auto after_command = [](const std::string& text) {
    return text.substr(text.find("Nothing here was measured"));
  };
  EXPECT_EQ(after_command(page), after_command(reproduction_as_markdown(stated, "sextant")));
  for (const ReproducedExperiment& experiment : stated.experiments) {
    EXPECT_THAT(page, HasSubstr("\n## " + experiment.name + "\n"));
    for (const Comparison& one : experiment.comparisons) {
      EXPECT_THAT(page, HasSubstr(one.sentence));
      const bool has_cause = std::any_of(experiment.causes.begin(), experiment.causes.end(),
                                         [&](const Cause& cause) { return cause.group == one.group; });
      EXPECT_TRUE(one.agrees || has_cause) << experiment.name << ": " << one.group;
    }
  }
}

TEST(Reproduction, DisagreementNeedsASentenceAndAgreementNone) {
  Json json = fixture();
  json["experiments"][0]["comparisons"][1]["sentence"] = "";
  EXPECT_THAT(refusal(json),
              HasSubstr("/experiments/0/comparisons/1/sentence: expected one where the figures"));
  json = fixture();
  json["experiments"][0]["comparisons"][0]["sentence"] = "but";
  EXPECT_THAT(refusal(json), HasSubstr("/experiments/0/comparisons/0/sentence"));
}

TEST(Reproduction, ACauseNamesItsGroup) {
  Json json = fixture();
  json["experiments"][0]["causes"][0].erase("group");
  EXPECT_THAT(refusal(json), HasSubstr("/experiments/0/causes/0"));
  json = fixture();
  json["experiments"][0]["contradictions"][0] = 3;
  EXPECT_THAT(refusal(json), HasSubstr("/experiments/0/contradictions/0"));
}

TEST(Reproduction, ARangeHasItsEndsInOrder) {
  Json json = fixture();
  json["experiments"][0]["comparisons"][0]["published_low"] = 2;
  EXPECT_THAT(refusal(json), HasSubstr("/published_high: less than published_low"));
}

TEST(Reproduction, WhatHasNoPlanHasNoTimes) {
  Json json = fixture();
  json["experiments"][0]["cells"][0]["plans"][2]["iteration_s"] = 1;
  EXPECT_THAT(refusal(json), HasSubstr("/experiments/0/cells/0/plans/2"));
  json = fixture();
  json["experiments"][0]["cells"][0]["plans"][0]["tasks"]["actor_training"]["largest_term"] = "luck";
  EXPECT_THAT(refusal(json), HasSubstr("/tasks/actor_training/largest_term: expected one of compute"));
}

}  // namespace
}  // namespace sextant
