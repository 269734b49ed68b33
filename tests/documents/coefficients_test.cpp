#include "sextant/coefficients.h"

#include <gtest/gtest.h>

#include <set>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

constexpr auto kTraining = CoefficientId::training_efficiency;

Coefficient entry(double value, const std::string& device_type, const std::string& framework) {
  Coefficient out;
  out.id = kTraining;
  out.device_type = device_type;
  out.framework = framework;
  out.value = value;
  return out;
}

std::string values_refusal(const std::string& values) {
  const Json json = parse_json("{\"values\": " + values + "}");
  return refusal_of([&json] { (void)parse_as<Coefficients>(json); });
}

TEST(CoefficientTableTest, IsInTheOrderOfTheIdsWithUniqueNames) {
  std::set<std::string_view> names;
  ASSERT_EQ(coefficient_table().size(), static_cast<std::size_t>(kCoefficientCount));
  for (int i = 0; i < kCoefficientCount; ++i) {
    const CoefficientSpec& spec = coefficient_table()[static_cast<std::size_t>(i)];
    EXPECT_EQ(static_cast<int>(spec.id), i) << spec.name;
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(&spec_of(spec.id), &spec);
    EXPECT_LT(spec.lower, spec.upper) << spec.name;
    EXPECT_GE(spec.prior, spec.lower) << spec.name;
    EXPECT_LE(spec.prior, spec.upper) << spec.name;
    EXPECT_GT(spec.prior_deviation, 0) << spec.name;
  }
}

TEST(CoefficientTableTest, TheSchemaKnowsTheSameNames) {
  const Json schema = parse_json(read_text_file(SEXTANT_SOURCE_DIR "/docs/schemas/coefficients.schema.json"));
  const Json& known = schema["$defs"]["coefficient"]["properties"]["name"]["enum"];
  std::vector<std::string> names;
  for (const CoefficientSpec& spec : coefficient_table()) names.emplace_back(spec.name);
  EXPECT_EQ(known.get<std::vector<std::string>>(), names);
}

TEST(CoefficientTableTest, NeutralValuesCanBeWrittenAndRead) {
  Coefficients all;
  for (const CoefficientSpec& spec : coefficient_table()) {
    Coefficient one;
    one.id = spec.id;
    one.value = spec.neutral;
    one.prior = spec.prior;
    all.values.push_back(one);
  }
  EXPECT_EQ(parse_as<Coefficients>(all.to_json()), all);
}

TEST(CoefficientsTest, WithoutEntriesEverythingIsNeutral) {
  for (const CoefficientSpec& spec : coefficient_table()) {
    EXPECT_EQ(Coefficients{}.value(spec.id, "h100", "verl"), spec.neutral) << spec.name;
  }
}

TEST(CoefficientsTest, TheMostSpecificEntryHolds) {
  Coefficients coefficients;
  coefficients.values = {entry(0.1, "*", "*"), entry(0.4, "h100", "verl"), entry(0.3, "h100", "*"),
                         entry(0.2, "*", "verl")};
  EXPECT_EQ(coefficients.value(kTraining, "h100", "verl"), 0.4);
  EXPECT_EQ(coefficients.value(kTraining, "h100", "trl"), 0.3);
  EXPECT_EQ(coefficients.value(kTraining, "l40s", "verl"), 0.2);
  EXPECT_EQ(coefficients.value(kTraining, "l40s", "trl"), 0.1);
  EXPECT_EQ(coefficients.value(kTraining), 0.1);
  EXPECT_EQ(coefficients.value(kTraining, "h100"), 0.3);
  EXPECT_EQ(coefficients.value(CoefficientId::inference_efficiency, "h100", "verl"), 1);
}

TEST(CoefficientsTest, TheDeviceTypeCountsMoreThanTheFramework) {
  Coefficients coefficients;
  coefficients.values = {entry(0.3, "h100", "*"), entry(0.2, "*", "verl")};
  EXPECT_EQ(coefficients.value(kTraining, "h100", "verl"), 0.3);
}

TEST(CoefficientsTest, OnlyRunsDriveToABound) {
  Coefficient pushed = entry(2, "*", "*");
  pushed.at_bound = true;
  pushed.prior = 1;
  EXPECT_TRUE(pushed.is_driven_to_bound());
  pushed.prior = 2.001;  // the prior lies there itself
  EXPECT_FALSE(pushed.is_driven_to_bound());
  pushed.prior = 1;
  pushed.at_bound = false;
  EXPECT_FALSE(pushed.is_driven_to_bound());
  Coefficient absent = entry(0, "*", "*");
  absent.at_bound = true;
  absent.prior = 0;
  EXPECT_FALSE(absent.is_driven_to_bound());
}

TEST(CoefficientsTest, ReadsTheFixture) {
  const auto coefficients = load_fixture<Coefficients>("coefficients.json");
  EXPECT_EQ(coefficients.value(kTraining, "h100", "sextant-proxy"), 0.52);
  EXPECT_EQ(coefficients.value(kTraining, "l40s", "sextant-proxy"), 0.61);
  ASSERT_TRUE(coefficients.fit.has_value());
  EXPECT_EQ(coefficients.fit->runs.size(), 2U);
}

TEST(CoefficientsTest, Refuses) {
  EXPECT_EQ(values_refusal(R"([{"name": "training_efficiency", "value": 0}])"),
            "/values/0/value: expected a number > 0, got 0");
  EXPECT_EQ(values_refusal(R"([{"name": "iteration_overhead_s", "value": -1}])"),
            "/values/0/value: expected a number >= 0, got -1");
  EXPECT_EQ(
      values_refusal(
          R"([{"name": "training_efficiency", "value": 1}, {"name": "training_efficiency", "value": 2}])"),
      "/values/1: training_efficiency is given twice for this device type and framework");
  EXPECT_EQ(values_refusal(R"([{"name": "iteration_overhead_s", "device_type": "h100", "value": 1}])"),
            "/values/0/device_type: there is one iteration_overhead_s for all device types");
  EXPECT_EQ(values_refusal(R"([{"name": "training_efficiency", "value": 1, "low": 2, "high": 1}])"),
            "/values/0/high: expected at least \"low\"");
  EXPECT_EQ(values_refusal(R"([{"name": "speed", "value": 1}])").substr(0, 48),
            "/values/0/name: expected one of prefill_efficien");
}

}  // namespace
}  // namespace sextant
