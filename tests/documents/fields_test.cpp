// A table of fields reads, writes and describes an object.
#include "documents/values/fields.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"

namespace sextant {
namespace {

struct Stop {
  std::string town;
  int platforms = 2;
  int tracks = 0;
  double wait_s = 0;
  std::optional<bool> has_roof = std::nullopt;
  std::vector<double> fares_usd = {};

  friend bool operator==(const Stop&, const Stop&) = default;
};

void complete_tracks(const JsonView& view, Stop& stop) {
  if (!view.optional("tracks")) stop.tracks = stop.platforms;
  if (stop.tracks < stop.platforms) view.required("tracks").fail("fewer than platforms");
}

const Fields<Stop>& stop_fields() {
  static const Fields<Stop> fields{
      required("town", &Stop::town, text(), "Name of the town."),
      defaulted("platforms", &Stop::platforms, count()),
      optional("tracks", &Stop::tracks, number_of()).completed_by(complete_tracks),
      optional("wait_s", &Stop::wait_s, non_negative(), "Seconds."),
      optional("has_roof", &Stop::has_roof, sextant::flag()),
      optional("fares_usd", &Stop::fares_usd, list_of(positive())),
  };
  return fields;
}

Stop read_stop(const std::string& json) {
  const Json value = parse_json(json);
  return parse_fields(JsonView(value, "/stop"), stop_fields());
}

std::string stop_refusal(const std::string& json) {
  return refusal_of([&] { (void)read_stop(json); });
}

TEST(Fields, MissingOnesHaveTheDefaultOfTheMember) {
  EXPECT_EQ(read_stop(R"({"town": "Ulm"})"), (Stop{.town = "Ulm", .platforms = 2, .tracks = 2}));
}

TEST(Fields, AreWrittenInTheOrderOfTheTableAndOptionalOnesIfTheyDiffer) {
  const std::string all =
      R"({"town":"Ulm","platforms":3,"tracks":4,"wait_s":1.5,"has_roof":false,"fares_usd":[2.0]})";
  EXPECT_EQ(fields_to_json(read_stop(all), stop_fields()).dump(), all);
  EXPECT_EQ(fields_to_json(Stop{.town = "Ulm"}, stop_fields()).dump(), R"({"town":"Ulm","platforms":2})");
}

TEST(Fields, RefusalsNameThePathAndTheKnownMembers) {
  EXPECT_EQ(stop_refusal("{}"), "/stop: missing member \"town\"");
  EXPECT_EQ(stop_refusal(R"({"town": "Ulm", "wait_s": -1})"), "/stop/wait_s: expected a number >= 0, got -1");
  EXPECT_EQ(stop_refusal(R"({"town": "Ulm", "tracks": 1})"), "/stop/tracks: fewer than platforms");
  EXPECT_EQ(stop_refusal(R"({"town": "Ulm", "fares_usd": [1, 0]})"),
            "/stop/fares_usd/1: expected a number > 0, got 0");
  EXPECT_EQ(stop_refusal(R"({"city": "Ulm"})"),
            "/stop/city: unknown member; known ones are town, platforms, tracks, wait_s, has_roof, fares_usd");
}

TEST(Fields, SchemaHasRangesDefaultsAndHelp) {
  EXPECT_EQ(schema_of(stop_fields()), parse_json(R"({
    "required": ["town"],
    "properties": {
      "town": {"description": "Name of the town.", "$ref": "common.schema.json#/$defs/text"},
      "platforms": {"$ref": "common.schema.json#/$defs/count", "default": 2},
      "tracks": {"$ref": "common.schema.json#/$defs/number_of"},
      "wait_s": {"description": "Seconds.", "$ref": "common.schema.json#/$defs/non_negative", "default": 0},
      "has_roof": {"type": "boolean"},
      "fares_usd": {"type": "array", "items": {"$ref": "common.schema.json#/$defs/positive"}}
    }})"));
}

TEST(Fields, DefaultsThatADocumentCannotStateAreLeftOut) {
  const Field<Stop> field = optional("tracks", &Stop::tracks, count());
  EXPECT_FALSE(field.schema.contains("default"));
  EXPECT_EQ(schema_of(Fields<Stop>{field.described_by_hand()})["properties"]["tracks"], nullptr);
}

}  // namespace
}  // namespace sextant
