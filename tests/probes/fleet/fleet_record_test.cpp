#include "probes/fleet/fleet_record.h"

#include <gtest/gtest.h>

#include "core/document.h"
#include "core/json_value.h"

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

TEST(FleetRecord, RefusesAPairWithoutOneStreamBothWays) {
  Json json = load_document<FleetRecord>(SEXTANT_TEST_DATA "/fleet.json").content.to_json();
  auto& rates = json["pairs"][0]["rates"];
  rates.erase(rates.begin());
  EXPECT_THROW(static_cast<void>(FleetRecord::parse(JsonView(json))), Error);
}

}  // namespace
}  // namespace sextant
