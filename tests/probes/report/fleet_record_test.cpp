#include "probes/report/fleet_record.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/probes/report/fleet_fixture.h"

namespace sextant {
namespace {

TEST(FleetRecord, GoesThroughItsDocument) {
  const auto document = load_document<FleetRecord>(SEXTANT_TEST_DATA "/fleet.json");
  EXPECT_EQ(document.content.hosts.size(), 4U);
  EXPECT_FALSE(document.content.hosts[3].why_lost.empty());
  EXPECT_TRUE(document.content.pairs[0].datagrams.has_value());
  EXPECT_FALSE(document.content.pairs[1].datagrams.has_value());
  EXPECT_EQ(parse_document<FleetRecord>(format_document(document)).content, document.content);
}

// Results and warnings of a host's probe are in the document, without the host's cluster and how it is reached.
TEST(FleetRecord, HasTheDevicesResultsAndWarnings) {
  FleetRecord record;
  record.hosts.push_back(test::host("a"));
  record.hosts.back().devices->results = {test::result("memory/read", "bytes/s", 2e12, 5)};
  record.hosts.back().devices->warnings = {"3 points were measured while the GPU was held back"};
  const Json json = record.to_json();
  EXPECT_EQ(json["hosts"][0]["results"][0]["rank"], 5);
  EXPECT_EQ(json["hosts"][0]["results"][0]["samples_s"].size(), 3U);
  EXPECT_EQ(json["hosts"][0]["warnings"][0], "3 points were measured while the GPU was held back");
  record.hosts.back().devices->cluster = Json();
  record.hosts.back().host = {"a", "r", "z", "", "", ""};
  EXPECT_EQ(FleetRecord::parse(JsonView(json)), record);
}

// Nobody knows what a host that was lost had refused: that is not none.
TEST(FleetRecord, RefusalsOfALostHostAreUnknown) {
  FleetRecord record;
  record.hosts.push_back(
      {{"a", "r", "z", "", "", ""}, std::nullopt, "", "was ended by signal 9", std::nullopt});
  const Json json = record.to_json();
  EXPECT_FALSE(json["hosts"][0].contains("refusals"));
  EXPECT_EQ(FleetRecord::parse(JsonView(json)), record);
}

TEST(FleetRecord, RefusesAPairWithoutOneStreamBothWays) {
  Json json = load_document<FleetRecord>(SEXTANT_TEST_DATA "/fleet.json").content.to_json();
  auto& rates = json["pairs"][0]["rates"];
  rates.erase(rates.begin());
  EXPECT_THROW(static_cast<void>(FleetRecord::parse(JsonView(json))), Error);
}

}  // namespace
}  // namespace sextant
