// The accuracy page says what was asked, what is reached, and what a missed figure is held at.
#include "lab/claims/claims_markdown.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ClaimReport example() {
  return load_document<ClaimReport>(std::filesystem::path(SEXTANT_SOURCE_DIR) / "tests/data/claims.json")
      .content;
}

TEST(ClaimsMarkdown, AMissedFigureNamesWhatItIsHeldAt) {
  const std::string page = claims_as_markdown(example());
  EXPECT_THAT(page, HasSubstr("2 of 3 figures meet what is asked of them."));
  EXPECT_THAT(
      page,
      HasSubstr("| `training.leave_one_model_out` | 9.0 % | at most 8.0 % | **missed** | 10.0 % | 40 | 12 |"));
  EXPECT_THAT(page, HasSubstr("| `proxy.kendall_tau` | 0.950 | at least 0.900 | met |  | 11 | 30 |"));
  EXPECT_THAT(page,
              HasSubstr("a missed figure is held there, which is no part of what is asked, until it is met"));
}

TEST(ClaimsMarkdown, AMissedFigureThatNothingHoldsSaysSo) {
  ClaimReport report = example();
  report.claims[0].held.reset();
  EXPECT_THAT(claims_as_markdown(report), HasSubstr("| **missed** | not held | 40 |"));
}

TEST(ClaimsMarkdown, AFigureThatIsMetIsNotHeldElsewhere) {
  ClaimReport report = example();
  report.claims[0].value = 0.07;
  const std::string page = claims_as_markdown(report);
  EXPECT_THAT(page, HasSubstr("| 7.0 % | at most 8.0 % | met |  | 40 |"));
  EXPECT_THAT(page, Not(HasSubstr("**missed**")));
}

TEST(ClaimsMarkdown, WhatNobodyUnderstandsIsSaid) {
  const std::string page = claims_as_markdown(example());
  EXPECT_THAT(page, HasSubstr("| 50 % | one micro-batch |"));
  EXPECT_THAT(page, HasSubstr("| 17 % | not understood |"));
}

}  // namespace
}  // namespace sextant
