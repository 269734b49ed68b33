// The summary document of quickstart, which has no library of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/quickstart/quickstart_summary.h"
#include "core/json_value.h"
#include "tests/cli/documents.h"
#include "tests/core/expect_error.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

TEST(SummaryDocument, ComesBackAsItWas) {
  const auto first = load_document<cli::QuickstartSummary>(data("summary.json"));
  EXPECT_EQ(first.content.configurations, 51);
  EXPECT_EQ(first.content.held_out_task_mape, 0.093);
  EXPECT_EQ(first.content.fastest_plan, "planned-2");
  const std::string text = format_document(first);
  EXPECT_EQ(parse_json(text), parse_json(read_text_file(data("summary.json"))));
  EXPECT_EQ(format_document(parse_document<cli::QuickstartSummary>(text)), text);
}

TEST(SummaryDocument, OfPastVersionsIsRead) {
  const auto read = load_document<cli::QuickstartSummary>(data("versions/summary-1.0.json"));
  EXPECT_EQ(read.content.configurations, 51);
}

TEST(SummaryDocument, RefusesWhatNoMeasurementGives) {
  Json json = parse_json(read_text_file(data("summary.json")));
  json["wall_s"] = -1;
  EXPECT_THAT(refusal_of([&] { (void)parse_document<cli::QuickstartSummary>(format_json(json)); }),
              HasSubstr("/wall_s: expected a"));
}

// 34 of 51 were seen by the fit.
TEST(SummaryDocument, IsTheSameInWords) {
  const auto summary = load_document<cli::QuickstartSummary>(data("summary.json")).content;
  std::string words;
  for (const std::string& sentence : cli::sentences(summary)) words += sentence + "\n";
  for (const char* part :
       {"51 configurations", "the fit saw 34 of them", "9.3 %", "6.1 %", "810 ms", "790 ms", "planned-2"}) {
    EXPECT_THAT(words, HasSubstr(part));
  }
  for (const char* part : {"51", "17", "9.3 %", "6.1 %", "810 ms", "790 ms", "1.2 %"}) {
    EXPECT_THAT(cli::describe(summary), HasSubstr(part));
  }
}

}  // namespace
}  // namespace sextant::test
