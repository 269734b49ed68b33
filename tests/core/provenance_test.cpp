#include "sextant/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::MatchesRegex;

std::string command_of(const std::vector<const char*>& arguments) {
  set_command_line(static_cast<int>(arguments.size()), arguments.data());
  return current_provenance().command;
}

TEST(ProvenanceTest, QuotesTheCommandForAShell) {
  EXPECT_EQ(command_of({"sextant", "probe", "--output=a.json"}), "sextant probe --output=a.json");
  EXPECT_EQ(command_of({"x", "two words", "", "it's", "$HOME"}), "x 'two words' '' 'it'\\''s' '$HOME'");
}

TEST(ProvenanceTest, IsAlwaysWritable) {
  EXPECT_NO_THROW((void)Json(command_of({"x", "\xff"})).dump());
  EXPECT_EQ(command_of({}), "unknown");
}

TEST(ProvenanceTest, DescribesThisProcess) {
  const Provenance now = current_provenance();
  EXPECT_THAT(now.tool_version, MatchesRegex("sextant [0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(now.time_utc,
              MatchesRegex("20[0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
  EXPECT_FALSE(now.host.empty());
}

TEST(ProvenanceTest, RoundTrips) {
  const Provenance now = current_provenance();
  const Json json = now.to_json();
  EXPECT_EQ(Provenance::parse(JsonView(json)), now);
}

TEST(ProvenanceTest, RefusesOtherTimes) {
  Json json = current_provenance().to_json();
  json["time_utc"] = "31 January";
  EXPECT_EQ(refusal_of([&] { (void)Provenance::parse(JsonView(json, "/provenance")); }),
            "/provenance/time_utc: expected a time like \"2026-01-31T12:00:00Z\", got \"31 January\"");
}

}  // namespace
}  // namespace sextant
