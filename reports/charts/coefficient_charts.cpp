#include "reports/charts/coefficient_charts.h"

#include <algorithm>
#include <cmath>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/vega_lite.h"
#include "reports/content/names.h"

namespace sextant::charts {

CoefficientAxis axis_of(const CoefficientSpec& spec) {
  if (spec.neutral > 0 && spec.scale == CoefficientScale::logarithmic) return CoefficientAxis::ratio;
  return spec.unit == "s" ? CoefficientAxis::seconds : CoefficientAxis::weight;
}

std::string status_of(const Coefficient& coefficient) {
  if (coefficient.at_bound) return "at a bound";
  return coefficient.identified ? "identified" : "not identified";
}

std::string short_name(const CoefficientSpec& spec) {
  std::string_view name = spec.name;
  if (spec.unit == "s" && name.ends_with("_s")) name.remove_suffix(2);
  return shown_name(name);
}

std::string label_of(const Coefficient& coefficient) {
  std::string label = short_name(spec_of(coefficient.id));
  if (coefficient.device_type != kAny) label += " · " + coefficient.device_type;
  if (coefficient.framework != kAny) label += " · " + coefficient.framework;
  return label;
}

namespace {

constexpr std::string_view kIntervals = R"json({
  "layer": [
    {"mark": {"type": "rule", "color": "#888888", "strokeDash": [5, 4]}, "encoding": {"x": {"datum": 0}}},
    {"transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
     "mark": {"type": "rule", "strokeWidth": 2},
     "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
    {"mark": {"type": "tick", "thickness": 2, "size": 14, "color": "#888888"},
     "encoding": {"x": {"field": "prior", "type": "quantitative"}}},
    {"mark": {"type": "point", "filled": true, "size": 90, "opacity": 1},
     "encoding": {
       "x": {"field": "value", "type": "quantitative"},
       "shape": {"field": "status", "type": "nominal", "legend": {"title": null, "orient": "bottom"}}}}
  ]})json";

constexpr const char* kStatuses[] = {"identified", "not identified", "at a bound"};

std::string shown_value(double value, CoefficientAxis axis) {
  return axis == CoefficientAxis::seconds ? format_seconds(value) : format_number(value);
}

// In the units of the axis, no further out than the bounds of the fit, which the interval may cross.
double on_axis(double value, const CoefficientSpec& spec, CoefficientAxis axis) {
  const double inside = std::clamp(value, spec.lower, spec.upper);
  return axis == CoefficientAxis::ratio ? inside / spec.neutral : inside;
}

Json row_of(const Coefficient& coefficient, CoefficientAxis axis) {
  const CoefficientSpec& spec = spec_of(coefficient.id);
  const bool has_interval = coefficient.low && coefficient.high;
  Json row = {{"name", label_of(coefficient)},
              {"status", status_of(coefficient)},
              {"value", on_axis(coefficient.value, spec, axis)},
              {"prior", on_axis(coefficient.prior, spec, axis)},
              {"low", nullptr},
              {"high", nullptr},
              {"shown", shown_value(coefficient.value, axis)},
              {"prior_shown", shown_value(coefficient.prior, axis)},
              {"interval", "none"},
              {"help", std::string(spec.help)}};
  if (has_interval) {
    row["low"] = on_axis(*coefficient.low, spec, axis);
    row["high"] = on_axis(*coefficient.high, spec, axis);
    row["interval"] = shown_value(*coefficient.low, axis) + " to " + shown_value(*coefficient.high, axis);
  }
  return row;
}

double extreme_of(const Json& rows, bool largest) {
  double extreme = 1;  // the neutral value belongs on a ratio axis
  for (const Json& row : rows) {
    for (const char* key : {"value", "prior", "low", "high"}) {
      if (!row[key].is_number()) continue;
      const double value = row[key].get<double>();
      extreme = largest ? std::max(extreme, value) : std::min(extreme, value);
    }
  }
  return extreme;
}

void set_ratio_axis(Json& x, const Json& rows) {
  const double low = extreme_of(rows, false) / 1.2;
  const double high = extreme_of(rows, true) * 1.2;
  x["scale"] = {{"type", "log"}, {"domain", {low, high}}, {"nice", false}};
  x["axis"] = {{"title", "value relative to neutral"},
               {"values", log_ticks(low, high)},
               {"labelExpr", "format(datum.value, '.3~g')"}};
}

void set_seconds_axis(Json& x, const Json& rows) {
  constexpr double kResolution_s = 1e-6;  // below this the axis is linear
  double high = 10 * kResolution_s;
  for (const Json& row : rows) {
    for (const char* key : {"value", "prior", "high"}) {
      if (row[key].is_number()) high = std::max(high, row[key].get<double>());
    }
  }
  Json ticks = Json::array({0});
  for (int exponent = -6; std::pow(10, exponent) <= high; ++exponent) {
    ticks.push_back(std::stod("1e" + std::to_string(exponent)));
  }
  x["scale"] = {{"type", "symlog"}, {"constant", kResolution_s}, {"domain", {0, high * 1.3}}, {"nice", false}};
  x["axis"] = {{"title", "value"}, {"values", std::move(ticks)}, {"labelExpr", kSecondsLabel}};
}

void set_axis(Json& x, const Json& rows, CoefficientAxis axis) {
  switch (axis) {
    case CoefficientAxis::ratio:
      set_ratio_axis(x, rows);
      break;
    case CoefficientAxis::weight:
      x["axis"] = {{"title", "value"}, {"tickCount", 8}};
      break;
    case CoefficientAxis::seconds:
      set_seconds_axis(x, rows);
      break;
  }
}

}  // namespace

Json coefficient_intervals(const std::vector<Coefficient>& coefficients, CoefficientAxis axis) {
  Json rows = Json::array();
  std::vector<std::string> labels;
  for (const Coefficient& coefficient : coefficients) {
    if (axis_of(spec_of(coefficient.id)) != axis) continue;
    if (spec_of(coefficient.id).unit == "bytes") continue;  // on none of the axes; the table has it
    rows.push_back(row_of(coefficient, axis));
    labels.push_back(label_of(coefficient));
  }
  if (rows.empty()) return nullptr;
  Json spec =
      specification("Coefficients with their 90 % intervals", row_height(labels.size(), 24), kIntervals);
  spec["data"] = inline_data(rows);
  spec["layer"][0]["data"] = inline_data(Json::array({Json::object()}));
  spec["layer"][0]["encoding"]["x"]["datum"] = axis == CoefficientAxis::ratio ? 1 : 0;
  const Json colour = {{"field", "status"},
                       {"type", "nominal"},
                       {"scale", {{"domain", kStatuses}, {"range", {"#0072B2", "#8A8A8A", "#D55E00"}}}},
                       {"legend", {{"title", nullptr}, {"orient", "bottom"}}}};
  for (Json& layer : spec["layer"]) {
    Json& encoding = layer["encoding"];
    set_axis(encoding["x"], rows, axis);
    if (layer.contains("data")) continue;
    encoding["y"] = {{"field", "name"},
                     {"type", "nominal"},
                     {"sort", labels},
                     {"axis", {{"title", nullptr}, {"labelLimit", 300}, {"grid", true}}}};
    encoding["tooltip"] = Json::parse(
        R"json([{"field": "name", "type": "nominal"}, {"field": "shown", "type": "nominal", "title": "value"},
            {"field": "interval", "type": "nominal", "title": "90 % interval"},
            {"field": "prior_shown", "type": "nominal", "title": "prior"},
            {"field": "status", "type": "nominal"}, {"field": "help", "type": "nominal", "title": "meaning"}])json");
    if (layer["mark"]["type"] != "tick") encoding["color"] = colour;
  }
  spec["layer"][3]["encoding"]["shape"]["scale"] = {{"domain", kStatuses},
                                                    {"range", {"circle", "diamond", "triangle-right"}}};
  return spec;
}

}  // namespace sextant::charts
