#include "sextant/quantity.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/precision.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

Quantity parse_quantity(const std::string& text, bool zero_allowed = false) {
  const Json json = parse_json(text);
  return Quantity::parse(JsonView(json, "/q"), zero_allowed);
}

std::string quantity_refusal(const std::string& text) {
  return refusal_of([&text] { (void)parse_quantity(text); });
}

TEST(QuantityTest, ReadsEveryMember) {
  const Quantity quantity = parse_quantity(
      R"({"value": 2.5, "source": "measured", "spread_fraction": 0.1, "time_utc": "2026-01-31T12:00:00Z", "note": "n"})");
  EXPECT_EQ(quantity, (Quantity{2.5, Source::measured, 0.1, "2026-01-31T12:00:00Z", "n"}));
  EXPECT_EQ(parse_quantity(R"({"value": 0, "source": "assumed"})", true).value, 0);
}

TEST(QuantityTest, Refuses) {
  EXPECT_EQ(quantity_refusal(R"({"value": 0, "source": "assumed"})"), "/q/value: expected a number > 0, got 0");
  EXPECT_EQ(quantity_refusal(R"({"value": 1})"), "/q: missing member \"source\"");
  EXPECT_EQ(quantity_refusal("5"), "/q: expected an object, got 5");
  EXPECT_EQ(quantity_refusal(R"({"value": 1, "source": "guessed"})"),
            "/q/source: expected one of measured, datasheet, assumed, got \"guessed\"");
  EXPECT_EQ(quantity_refusal(R"({"value": 1, "source": "measured", "spread_fraction": -1})"),
            "/q/spread_fraction: expected a number >= 0, got -1");
}

TEST(QuantityTest, MakersSayWhereItIsFrom) {
  EXPECT_EQ(measured(2, 0.1).source, Source::measured);
  EXPECT_EQ(measured(2, 0.1).spread_fraction, 0.1);
  EXPECT_TRUE(measured(2, 0.1).time_utc.has_value());
  EXPECT_EQ(datasheet(3, "which"), (Quantity{3, Source::datasheet, std::nullopt, std::nullopt, "which"}));
  EXPECT_FALSE(assumed(4).note.has_value());
}

TEST(PrecisionTest, BytesAndNames) {
  EXPECT_EQ(bytes_per_element(Precision::fp64), 8);
  EXPECT_EQ(bytes_per_element(Precision::tf32), 4);
  EXPECT_EQ(bytes_per_element(Precision::bf16), 2);
  EXPECT_EQ(bytes_per_element(Precision::fp8), 1);
  for (int i = 0; i < kPrecisionCount; ++i) {
    const auto precision = static_cast<Precision>(i);
    const Json json = name_of(precision);
    EXPECT_EQ(parse_precision(JsonView(json)), precision);
  }
}

}  // namespace
}  // namespace sextant
