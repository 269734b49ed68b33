#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string parse_refusal(const std::string& text) {
  return refusal_of([&text] { (void)parse_json(text); });
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, KeepsTheOrderOfMembers) {
  const Json json = parse_json(R"({"b": 1, "a": [true, null, "x", -2, 2.5], "c": {}})");
  EXPECT_EQ(json.dump(), R"({"b":1,"a":[true,null,"x",-2,2.5],"c":{}})");
}

TEST(ParseJson, ReadsIntegersExactly) {
  const Json json = parse_json("[9007199254740993, -9223372036854775808, 18446744073709551615]");
  EXPECT_EQ(json[0].get<std::int64_t>(), 9007199254740993);
  EXPECT_EQ(json[1].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(json[2].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseJson, RefusesDuplicateKeysWithTheirPath) {
  EXPECT_EQ(parse_refusal("{\"nodes\": [{\"name\": 1,\n \"name\": 2}]}"),
            "/nodes/0/name: duplicate key (line 2, column 7)");
  EXPECT_EQ(parse_refusal(R"({"a": 1, "b": 2, "a": 3})"), "/a: duplicate key (line 1, column 20)");
  EXPECT_EQ(parse_refusal(R"({"a/b~c": 1, "a/b~c": 2})"), "/a~1b~0c: duplicate key (line 1, column 20)");
}

TEST(ParseJson, EqualKeysOfDifferentObjectsAreFine) {
  EXPECT_EQ(parse_json(R"([{"a": {"a": 1}}, {"a": 2}])").dump(), R"([{"a":{"a":1}},{"a":2}])");
}

TEST(ParseJson, RefusesNaNAndInfinity) {
  EXPECT_EQ(parse_refusal(R"({"a": [0, NaN]})"),
            "/a/1: syntax error while parsing value - invalid literal; last read: '0, N' (line 1, column 11)");
  EXPECT_THAT(parse_refusal(R"({"a": Infinity})"), HasSubstr("/a: syntax error"));
  EXPECT_THAT(parse_refusal(R"({"a": -Infinity})"), HasSubstr("/a: syntax error"));
}

TEST(ParseJson, RefusesNumbersThatOverflow) {
  EXPECT_EQ(parse_refusal(R"({"a": [1, {"b": 1e999}]})"),
            "/a/1/b: number overflow parsing '1e999' (line 1, column 22)");
  EXPECT_THAT(parse_refusal("-1e400"), HasSubstr("number overflow"));
}

TEST(ParseJson, RefusesTruncatedText) {
  const std::string message = parse_refusal("{\"a\":\n  [1, {\"b\": ");
  EXPECT_THAT(message, HasSubstr("/a/1/b: syntax error while parsing value - unexpected end of input"));
  EXPECT_THAT(message, HasSubstr("expected"));
  EXPECT_THAT(message, HasSubstr("(line 2, column"));
  EXPECT_THAT(parse_refusal("[1, 2"), HasSubstr("expected ']'"));
}

TEST(ParseJson, RefusesEveryProperPrefixOfADocument) {
  const std::string text = R"({"a": [1, -2.5e3, "x\u00e9"], "b": {"c": null, "d": [true, false]}})";
  EXPECT_NO_THROW((void)parse_json(text));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(parse_refusal(text.substr(0, length)), Not(HasSubstr("json.exception"))) << length;
  }
}

TEST(ParseJson, RefusesTextAfterTheValue) {
  EXPECT_EQ(parse_refusal("{}\n{}"),
            "syntax error while parsing value - unexpected '{'; expected end of input (line 2, column 1)");
}

TEST(ParseJson, RefusesEmptyText) {
  EXPECT_EQ(parse_refusal(""), "the text is empty; expected a JSON value");
  EXPECT_EQ(parse_refusal(" \r\n\t"), "the text is empty; expected a JSON value");
}

TEST(ParseJson, RefusesDeepNestingButNotTheLimitItself) {
  EXPECT_NO_THROW((void)parse_json(nested(200)));
  EXPECT_THAT(parse_refusal(nested(201)), HasSubstr("nested deeper than 200"));
  EXPECT_THAT(parse_refusal(std::string(1000000, '[')), HasSubstr("nested deeper than 200"));
}

TEST(ParseJson, RefusesInvalidUtf8) {
  const std::string message = parse_refusal("{\"a\": \"\xff\"}");
  EXPECT_THAT(message, HasSubstr("/a: syntax error"));
  EXPECT_NO_THROW((void)Json(message).dump());  // the message itself is printable
}

TEST(ParseJson, ShortensWhatItShows) {
  EXPECT_LT(parse_refusal("\"" + std::string(100000, 'x')).size(), 300U);
  EXPECT_LT(parse_refusal("{\"" + std::string(100000, 'k') + "\": ?}").size(), 300U);
}

TEST(ParseJson, ReadsObjectsWithManyMembersInLinearTime) {
  std::string text = "{";
  constexpr int kMembers = 200000;  // quadratic work on these would take minutes
  for (int i = 0; i < kMembers; ++i) {
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  }
  EXPECT_THAT(parse_json(text + "}"), SizeIs(kMembers));
}

}  // namespace
}  // namespace sextant
