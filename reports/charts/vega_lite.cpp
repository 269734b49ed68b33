#include "reports/charts/vega_lite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/json_value.h"

namespace sextant::charts {
namespace {

// The last of the first eight is grey, for what is merged. The rest are for unusual workflows with more tasks.
constexpr std::array<const char*, kColourCount + 4> kColours{"#E69F00", "#56B4E9", "#009E73", "#CC79A7",
                                                             "#D55E00", "#0072B2", "#B8A500", "#8A8A8A",
                                                             "#7B3FA0", "#7A5230", "#B3DE69", "#8DD3C7"};

std::string colour_at(std::size_t place) {
  constexpr double kGoldenAngle = 137.508;  // degrees: hues never repeat
  if (place < kColours.size()) return kColours[place];
  const double hue = std::fmod(static_cast<double>(place) * kGoldenAngle, 360);
  return "hsl(" + std::to_string(hue) + ", 45%, 45%)";
}

}  // namespace

const char* const kSecondsLabel =
    "datum.value == 0 ? '0' : abs(datum.value) >= 1 ? format(datum.value, '.4~g') + ' s' : "
    "abs(datum.value) >= 1e-3 ? format(datum.value * 1e3, '.4~g') + ' ms' : "
    "format(datum.value * 1e6, '.4~g') + ' µs'";

Json specification(const std::string& description, int height_px, std::string_view body) {
  Json spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
               {"description", description},
               {"width", "container"},
               {"height", height_px},
               {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}}};
  spec.update(Json::parse(body));
  return spec;
}

int row_height(std::size_t rows, int row_px) { return static_cast<int>(rows) * row_px; }

Json inline_data(Json rows) { return {{"values", std::move(rows)}}; }

Json colour_scale(const std::vector<std::string>& names) {
  Json range = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) range.push_back(colour_at(i));
  return {{"domain", names}, {"range", std::move(range)}};
}

Json task_colour_scale(const std::vector<std::string>& shown_tasks) {
  static const std::vector<std::string> kPlaces = {
      "actor generation", "reward inference", "reference inference", "critic inference", "actor training",
      "critic training",  "iteration",        "weight sync",         "old log prob"};
  Json range = Json::array();
  std::size_t next = kPlaces.size();
  for (const std::string& task : shown_tasks) {
    const auto place = std::find(kPlaces.begin(), kPlaces.end(), task);
    range.push_back(
        colour_at(place == kPlaces.end() ? next++ : static_cast<std::size_t>(place - kPlaces.begin())));
  }
  return {{"domain", shown_tasks}, {"range", std::move(range)}};
}

Json seconds_axis(std::string_view title, double max_s) {
  const bool seconds = max_s >= 1;
  const bool milliseconds = !seconds && max_s >= 1e-3;
  const std::string unit = seconds ? "s" : milliseconds ? "ms" : "µs";
  const std::string factor = seconds ? "1" : milliseconds ? "1e3" : "1e6";
  return {{"title", std::string(title) + " (" + unit + ")"},
          {"labelExpr", "format(datum.value * " + factor + ", '.4~g')"},
          {"tickCount", 6}};
}

Json log_seconds_scale(double low_s, double high_s) {
  return {{"type", "log"}, {"domain", {low_s, high_s}}, {"nice", false}};
}

Json log_seconds_axis(std::string_view title, double low_s, double high_s) {
  return {{"title", title}, {"values", log_ticks(low_s, high_s)}, {"labelExpr", kSecondsLabel}};
}

std::vector<double> log_ticks(double low, double high) {
  const bool is_long = high / low > 2e3;
  std::vector<double> ticks;
  for (int exponent = static_cast<int>(std::floor(std::log10(low))); std::pow(10, exponent) <= high;
       ++exponent) {
    for (const int digit : {1, 2, 5}) {
      // Through text, so that 1e-3 * 2 is the double nearest to 0.002.
      const double tick = std::stod(std::to_string(digit) + "e" + std::to_string(exponent));
      if (tick >= low && tick <= high && (digit == 1 || !is_long)) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace sextant::charts
