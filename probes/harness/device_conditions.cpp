#include "probes/harness/device_conditions.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

struct Column {
  const char* name;
  double DeviceState::*member;
};
constexpr Column kColumns[] = {{"sm_clocks_hz", &DeviceState::sm_clock_hz},
                               {"memory_clocks_hz", &DeviceState::memory_clock_hz},
                               {"powers_w", &DeviceState::power_w},
                               {"temperatures_c", &DeviceState::temperature_c}};

std::string range_text(const std::vector<DeviceState>& states, double DeviceState::*member, double scale,
                       int decimals) {
  const auto [low, high] = std::minmax_element(
      states.begin(), states.end(),
      [&](const DeviceState& one, const DeviceState& other) { return one.*member < other.*member; });
  char text[64];
  std::snprintf(text, sizeof text, "%.*f to %.*f", decimals, scale * ((*low).*member), decimals,
                scale * ((*high).*member));
  return text;
}

}  // namespace

int DeviceConditions::throttled() const {
  return static_cast<int>(std::count_if(states.begin(), states.end(), [](const DeviceState& one) {
    return !one.throttle.empty() && one.throttle != kNotAnswered;
  }));
}

int DeviceConditions::unanswered() const {
  return static_cast<int>(std::count_if(states.begin(), states.end(),
                                        [](const DeviceState& one) { return one.throttle == kNotAnswered; }));
}

std::string DeviceConditions::throttle_sentence() const {
  const std::string of_all = " of " + std::to_string(states.size()) + " samples";
  std::string text;
  if (const int count = throttled(); count > 0) {
    std::set<std::string> reasons;
    for (const DeviceState& one : states) {
      if (!one.throttle.empty() && one.throttle != kNotAnswered) reasons.insert(one.throttle);
    }
    std::string joined;
    for (const std::string& reason : reasons) joined += (joined.empty() ? "" : ", ") + reason;
    text = std::to_string(count) + of_all + " throttled (" + joined + ")";
  }
  const int unknown = unanswered();
  if (unknown == 0) return text;
  return text.empty() ? "whether " + std::to_string(unknown) + of_all + " were throttled was not answered"
                      : text + ", of " + std::to_string(unknown) + " it was not answered";
}

std::string DeviceConditions::sentence() const {
  if (states.empty()) return "";
  const std::string throttle = throttle_sentence();
  return throttle + (throttle.empty() ? "" : ", ") + "SM clock " +
         range_text(states, &DeviceState::sm_clock_hz, 1e-9, 2) + " GHz, " +
         range_text(states, &DeviceState::power_w, 1, 0) + " W, " +
         range_text(states, &DeviceState::temperature_c, 1, 0) + " C";
}

DeviceConditions DeviceConditions::parse(const JsonView& view) {
  view.allow_only({"sm_clocks_hz", "memory_clocks_hz", "powers_w", "temperatures_c", "throttle"});
  DeviceConditions conditions;
  for (const JsonView& reason : view.required("throttle").items()) {
    conditions.states.emplace_back().throttle = reason.any_text();
  }
  for (const Column& column : kColumns) {
    const JsonView values = view.required(column.name);
    const std::vector<double> numbers = values.numbers();
    if (numbers.size() != conditions.states.size()) values.fail("expected one number for each of \"throttle\"");
    for (std::size_t at = 0; at < numbers.size(); ++at) conditions.states[at].*column.member = numbers[at];
  }
  return conditions;
}

Json DeviceConditions::to_json() const {
  Json json = Json::object();
  for (const Column& column : kColumns) {
    Json numbers = Json::array();
    for (const DeviceState& state : states) numbers.push_back(state.*column.member);
    json[column.name] = std::move(numbers);
  }
  Json throttle = Json::array();
  for (const DeviceState& state : states) throttle.push_back(state.throttle);
  json["throttle"] = std::move(throttle);
  return json;
}

}  // namespace sextant::inline probes
