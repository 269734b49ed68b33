#include "calibrate/import/records/json_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::map<std::string, double> numbers(const std::vector<JsonLineMember>& members) {
  std::map<std::string, double> out;
  for (const JsonLineMember& member : members) {
    if (member.is_number) out[std::string(member.name)] = member.number;
  }
  return out;
}

TEST(JsonLine, HasTheNumbersOfTheLineAndOfOneMember) {
  JsonLine line("data");
  ASSERT_TRUE(
      line.read(R"({"step": 12, "data": {"a": -1.5e3, "b": "x", "c": [1, {"d": 2}], "e": NaN}, "f": 0.25} )"));
  EXPECT_THAT(numbers(line.members()), ElementsAre(Pair("f", 0.25), Pair("step", 12)));
  EXPECT_THAT(numbers(line.nested()), ElementsAre(Pair("a", -1500)));
  EXPECT_TRUE(line.find("step")->is_integer);
  EXPECT_FALSE(line.find("f")->is_integer);
  EXPECT_TRUE(line.find("data")->is_object);
  EXPECT_EQ(line.find("a"), nullptr);
  ASSERT_TRUE(line.read("{}"));
  EXPECT_TRUE(line.members().empty());
  EXPECT_TRUE(line.nested().empty());
}

TEST(JsonLine, LooksBehindWhatItDoesNotRead) {
  JsonLine line("data");
  ASSERT_TRUE(line.read(
      R"({"text": "a \" } b", "list": ["}", "\\"], "none": null, "no": -Infinity, "yes": true, "a": 1})"));
  EXPECT_THAT(numbers(line.members()), ElementsAre(Pair("a", 1)));
  ASSERT_TRUE(line.read(R"({"a\"b": 1, "c": 2})"));  // a name with an escape is left out
  EXPECT_THAT(numbers(line.members()), ElementsAre(Pair("c", 2)));
}

TEST(JsonLine, RefusesALineThatWasCutOffOrIsNone) {
  JsonLine line("data");
  const std::string whole = R"({"step": 1, "data": {"a": 1.5, "b": [1, "x"]}, "c": null})";
  ASSERT_TRUE(line.read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(line.read(whole.substr(0, size))) << size;
  for (const char* bad : {"", "text", "[1]", "1", R"({"a" 1})", R"({"a": 1} x)", R"({"a": 1,})", R"({a: 1})",
                          R"({"a": 1 "b": 2})", R"({"a": 1e})", R"({"a": [}])", R"({"a": --1})"})
    EXPECT_FALSE(line.read(bad)) << bad;
  EXPECT_FALSE(line.read(R"({"a": )" + std::string(100000, '[') + std::string(100000, ']') + "}"));
}

TEST(JsonLine, ANumberBeyondDoublesIsNone) {
  JsonLine line("data");
  ASSERT_TRUE(line.read(R"({"a": 1e999, "b": 3})"));
  EXPECT_THAT(numbers(line.members()), ElementsAre(Pair("b", 3)));
}

}  // namespace
}  // namespace sextant
