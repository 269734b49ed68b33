#include "probes/harness/device_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant {
namespace {

using testing::HasSubstr;

DeviceConditions three_states() {
  return {{{1.98e9, 3.2e9, 300, 40, ""},
           {1.62e9, 3.2e9, 699, 61, "power_cap"},
           {1.7e9, 3.2e9, 690, 60, "power_cap"}}};
}

TEST(DeviceConditions, CountAndDescribeThrottledSamples) {
  EXPECT_EQ(three_states().throttled(), 2);
  EXPECT_EQ(three_states().sentence(),
            "2 of 3 samples throttled (power_cap), SM clock 1.62 to 1.98 GHz, 300 to 699 W, 40 to 61 C");
  EXPECT_EQ(DeviceConditions{}.sentence(), "");
}

TEST(DeviceConditions, WhatWasNotAnsweredIsNeitherThrottledNorNot) {
  DeviceConditions conditions = three_states();
  conditions.states[1].throttle = kNotAnswered;
  EXPECT_EQ(conditions.throttled(), 1);
  EXPECT_EQ(conditions.unanswered(), 1);
  EXPECT_EQ(conditions.throttle_sentence(), "1 of 3 samples throttled (power_cap), of 1 it was not answered");
  conditions.states[2].throttle = "";
  EXPECT_EQ(conditions.throttle_sentence(), "whether 1 of 3 samples were throttled was not answered");
  conditions.states[1].throttle = "";
  EXPECT_EQ(conditions.throttle_sentence(), "");
}

TEST(DeviceConditions, ComeBackFromADocument) {
  const Json json = three_states().to_json();
  EXPECT_EQ(DeviceConditions::parse(JsonView(json)), three_states());
}

TEST(DeviceConditions, NeedOneNumberASample) {
  Json json = three_states().to_json();
  json["powers_w"] = Json::array({300});
  try {
    static_cast<void>(DeviceConditions::parse(JsonView(json)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/powers_w"));
  }
}

}  // namespace
}  // namespace sextant
