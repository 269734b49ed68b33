#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "core/json_value.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

std::string format_refusal(const Json& json) {
  return refusal_of([&json] { (void)format_json(json); });
}

TEST(FormatJson, IndentsByTwoAndKeepsPlainArraysOnOneLine) {
  const Json json = parse_json(R"({"a": [1, 2], "b": [], "c": {}, "d": [{"e": "x"}, []]})");
  EXPECT_EQ(format_json(json), R"({
  "a": [1, 2],
  "b": [],
  "c": {},
  "d": [
    {
      "e": "x"
    },
    []
  ]
}
)");
}

TEST(FormatJson, WritesTheShortestDouble) {
  EXPECT_EQ(format_json(Json(0.1)), "0.1\n");
  EXPECT_EQ(format_json(Json(1e-6)), "1e-06\n");
  EXPECT_EQ(format_json(Json(4.0)), "4\n");
  EXPECT_EQ(format_json(Json(5e-324)), "5e-324\n");
  EXPECT_EQ(format_json(Json(-0.0)), "-0.0\n");
}

TEST(FormatJson, AnyFiniteDoubleComesBackBitByBit) {
  std::mt19937_64 random(20260131);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const Json back = parse_json(format_json(Json(value)));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back.get<double>()), std::bit_cast<std::uint64_t>(value)) << value;
  }
}

TEST(FormatJson, RoundDoublesComeBackToo) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10000; ++i) {
    const double value =
        std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 200) - 60);
    const std::string text = format_json(Json(value));
    ASSERT_EQ(parse_json(text).get<double>(), value) << text;
    ASSERT_EQ(format_json(Json(parse_json(text).get<double>())), text);
  }
}

TEST(FormatJson, RefusesWhatJsonCannotHoldWithItsPath) {
  Json json = Json::object();
  json["a/b"] = {1.0, std::nan("")};
  EXPECT_EQ(format_refusal(json), "/a~1b/1: JSON cannot hold NaN");
  EXPECT_EQ(format_refusal(Json(-HUGE_VAL)), "JSON cannot hold infinity");
  EXPECT_EQ(format_refusal(Json{{"note", "\xff"}}), "/note: the text is not valid UTF-8");
}

TEST(FormatJson, EscapesText) {
  const Json json = {{"a\"b", "line\nbreak \\ \x01 é"}};
  EXPECT_EQ(parse_json(format_json(json)), json);
}

}  // namespace
}  // namespace sextant
