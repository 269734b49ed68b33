#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;

class JsonViewTest : public ::testing::Test {
 protected:
  JsonView view() const { return JsonView(json_); }
  JsonView at(std::string_view key) const { return view().required(key); }

  template <typename Read>
  std::string refusal(std::string_view key, Read&& read) const {
    return refusal_of([&] { (void)read(at(key)); });
  }

  Json json_ = parse_json(R"({
    "int": 3, "negative": -2, "real": 2.5, "whole": 4.0, "exponent": 1e3, "big": 18446744073709551615,
    "zero": 0, "text": "abc", "empty": "", "flag": true, "null": null, "list": [1, 2.5], "mixed": [1, "x"],
    "object": {"a/b": {"c~d": 1}}, "large": 3000000000
  })");
};

TEST_F(JsonViewTest, ReadsScalars) {
  EXPECT_EQ(at("int").integer(), 3);
  EXPECT_EQ(at("int").count(3), 3);
  EXPECT_EQ(at("int").number(), 3.0);
  EXPECT_EQ(at("real").positive(), 2.5);
  EXPECT_EQ(at("zero").non_negative(), 0);
  EXPECT_EQ(at("zero").fraction(), 0);
  EXPECT_EQ(at("text").text(), "abc");
  EXPECT_EQ(at("empty").any_text(), "");
  EXPECT_TRUE(at("flag").flag());
  EXPECT_THAT(at("list").numbers(), ElementsAre(1, 2.5));
  EXPECT_EQ(at("large").integer(), 3000000000);
}

TEST_F(JsonViewTest, RefusesIntegersOutOfRange) {
  EXPECT_EQ(refusal("negative", [](const JsonView& v) { return v.count(1); }),
            "/negative: expected an integer >= 1, got -2");
  EXPECT_EQ(refusal("negative", [](const JsonView& v) { return v.integer(0, 9); }),
            "/negative: expected an integer from 0 to 9, got -2");
  EXPECT_EQ(
      refusal("int", [](const JsonView& v) { return v.integer(std::numeric_limits<std::int64_t>::min(), 2); }),
      "/int: expected an integer <= 2, got 3");
  EXPECT_EQ(refusal("large", [](const JsonView& v) { return v.count(); }),
            "/large: expected an integer from 0 to 2147483647, got 3000000000");
  EXPECT_EQ(refusal("big", [](const JsonView& v) { return v.integer(); }),
            "/big: expected an integer, got 18446744073709551615");
}

TEST_F(JsonViewTest, AnIntegerIsOnlyWhatIsWrittenAsOne) {
  EXPECT_EQ(refusal("real", [](const JsonView& v) { return v.count(); }),
            "/real: expected an integer >= 0, got 2.5");
  EXPECT_THROW((void)at("whole").count(), Error);
  EXPECT_THROW((void)at("exponent").count(), Error);
  EXPECT_EQ(refusal("text", [](const JsonView& v) { return v.count(); }),
            "/text: expected an integer >= 0, got \"abc\"");
}

TEST_F(JsonViewTest, RefusesNumbersOutOfRange) {
  EXPECT_EQ(refusal("zero", [](const JsonView& v) { return v.positive(); }),
            "/zero: expected a number > 0, got 0");
  EXPECT_EQ(refusal("negative", [](const JsonView& v) { return v.non_negative(); }),
            "/negative: expected a number >= 0, got -2");
  EXPECT_EQ(refusal("real", [](const JsonView& v) { return v.fraction(); }),
            "/real: expected a number from 0 to 1, got 2.5");
  EXPECT_EQ(refusal("null", [](const JsonView& v) { return v.number(); }),
            "/null: expected a number, got null");
  EXPECT_EQ(refusal("mixed", [](const JsonView& v) { return v.numbers(); }),
            "/mixed/1: expected a number, got \"x\"");
}

TEST_F(JsonViewTest, RefusesNumbersThatAreNotFinite) {
  const Json infinite = HUGE_VAL;
  EXPECT_EQ(refusal_of([&] { (void)JsonView(infinite, "/x").number(); }),
            "/x: expected a finite number, got inf");
}

TEST_F(JsonViewTest, RefusesOtherTypes) {
  EXPECT_EQ(refusal("empty", [](const JsonView& v) { return v.text(); }),
            "/empty: expected a string that is not empty, got \"\"");
  EXPECT_EQ(refusal("int", [](const JsonView& v) { return v.any_text(); }), "/int: expected a string, got 3");
  EXPECT_EQ(refusal("zero", [](const JsonView& v) { return v.flag(); }),
            "/zero: expected true or false, got 0");
  EXPECT_EQ(refusal("object", [](const JsonView& v) { return v.items(); }),
            "/object: expected an array, got an object");
  EXPECT_EQ(refusal("list", [](const JsonView& v) { return v.members(); }),
            "/list: expected an object, got an array of 2");
  EXPECT_EQ(refusal("list", [](const JsonView& v) { return v.required("x"); }),
            "/list: expected an object, got an array of 2");
}

TEST_F(JsonViewTest, NamesMissingAndUnknownMembers) {
  EXPECT_EQ(refusal_of([&] { (void)at("object").required("devices"); }), "/object: missing member \"devices\"");
  EXPECT_EQ(refusal_of([&] { (void)view().required("devices"); }), "missing member \"devices\"");
  EXPECT_EQ(refusal_of([&] {
              at("object").allow_only({"name", "zone"});
            }),
            "/object/a~1b: unknown member; known ones are name, zone");
  EXPECT_NO_THROW(at("object").allow_only({"a/b", "other"}));
  EXPECT_FALSE(view().optional("devices").has_value());
}

TEST_F(JsonViewTest, PathsAreJsonPointers) {
  EXPECT_EQ(at("object").required("a/b").required("c~d").path(), "/object/a~1b/c~0d");
  EXPECT_EQ(at("object").members().front().second.path(), "/object/a~1b");
  EXPECT_EQ(at("list").items().at(1).path(), "/list/1");
  EXPECT_EQ(view().path(), "");
}

TEST_F(JsonViewTest, ChoosesByName) {
  EXPECT_EQ(at("text").one_of({"x", "abc"}), 1U);
  EXPECT_EQ(refusal("text",
                    [](const JsonView& v) {
                      return v.one_of({"ppo", "grpo"});
                    }),
            "/text: expected one of ppo, grpo, got \"abc\"");
  EXPECT_EQ(refusal("int", [](const JsonView& v) { return v.one_of({"ppo"}); }),
            "/int: expected one of ppo, got 3");
}

TEST_F(JsonViewTest, ShowsAtMostSixtyCharactersOfAValue) {
  const Json json = std::string(100, 'x');
  EXPECT_EQ(refusal_of([&] { (void)JsonView(json, "/a").number(); }),
            "/a: expected a number, got \"" + std::string(59, 'x') + "...");
}

TEST(Within, PutsThePathBeforeThatOfTheError) {
  const auto refusal = [](const std::string& path, const std::string& message) {
    return refusal_of([&] { within(path, [&] { throw_bad_input(message); }); });
  };
  EXPECT_EQ(refusal("/plans/p", "/tasks/t: bad"), "/plans/p/tasks/t: bad");
  EXPECT_EQ(refusal("/plans/p", "bad"), "/plans/p: bad");
  EXPECT_EQ(refusal("", "bad"), "bad");
  EXPECT_EQ(within("/x", [] { return 3; }), 3);
}

// Beyond any quantity: products of such numbers would be infinite.
TEST(JsonNumbers, HaveTheSizeOfQuantities) {
  const Json numbers = parse_json(R"({"large": 1e25, "small": 1e-25, "zero": 0, "whole": 1e24})");
  const JsonView view(numbers);
  EXPECT_EQ(refusal_of([&] { (void)view.required("large").positive(); }),
            "/large: expected a number from 1e-24 to 1e24, got 1e+25");
  EXPECT_NE(refusal_of([&] { (void)view.required("small").positive(); }), "");
  EXPECT_NE(refusal_of([&] { (void)view.required("large").non_negative(); }), "");
  EXPECT_EQ(view.required("zero").non_negative(), 0);
  EXPECT_EQ(view.required("whole").positive(), 1e24);
}

// Names reach terminals, pages and generated code.
TEST(JsonNames, HaveNoControlCharacters) {
  const Json names =
      parse_json(R"({"name": "a\u001b[31mb", "free": "a\nb", "line": "a\u2028b", "of": {"a\nb": 1}})");
  const JsonView view(names);
  EXPECT_EQ(refusal_of([&] { (void)view.required("name").text(); }),
            "/name: expected text without control characters, got \"a\\u001b[31mb\"");
  EXPECT_THROW((void)view.required("line").text(), Error);
  EXPECT_EQ(view.required("free").any_text(), "a\nb");
  EXPECT_THROW((void)view.required("of").members(), Error);
}

}  // namespace
}  // namespace sextant
