#include "reports/charts/accuracy_charts.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/vega_lite.h"
#include "reports/content/names.h"

namespace sextant::charts {
namespace {

bool is_drawable(const ComparedTime& time) { return time.measured_s > 0 && time.predicted_s > 0; }

Json row_of(const ComparedTime& time) {
  const double error = time.predicted_s / time.measured_s - 1;
  return {{"run", time.run},
          {"task", shown_name(time.task)},
          {"set", time.held_out ? "held out" : "in sample"},
          {"measured_s", time.measured_s},
          {"predicted_s", time.predicted_s},
          {"error", error},
          {"measured", format_seconds(time.measured_s) + " ± " + format_percent(time.measured_spread_fraction)},
          {"predicted", format_seconds(time.predicted_s)},
          {"error_shown", (error > 0 ? "+" : "") + format_percent(error)}};
}

std::vector<std::string> shown_tasks(const std::vector<ComparedTime>& times) {
  std::set<std::string> tasks;
  for (const ComparedTime& time : times) tasks.insert(time.task);
  std::vector<std::string> shown;
  for (const std::string& task : in_task_order(tasks)) shown.push_back(shown_name(task));
  return shown;
}

constexpr std::string_view kScatter = R"json({
  "layer": [
    {"mark": {"type": "area", "opacity": 0.14, "color": "#0072B2", "tooltip": false},
     "encoding": {"x": {"field": "x", "type": "quantitative"},
                  "y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}},
    {"mark": {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.2, "color": "#888888", "clip": true},
     "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "x", "type": "quantitative"}}},
    {"params": [{"name": "picked", "select": {"type": "point", "fields": ["task"]}, "bind": "legend"}],
     "mark": {"type": "point", "size": 42, "strokeWidth": 1.6},
     "encoding": {
       "x": {"field": "measured_s", "type": "quantitative"},
       "y": {"field": "predicted_s", "type": "quantitative"},
       "stroke": {"field": "task", "type": "nominal",
                  "legend": {"title": null, "orient": "bottom", "symbolType": "circle"}},
       "fill": {"field": "task", "type": "nominal",
                "legend": {"title": null, "orient": "bottom", "symbolType": "circle"}},
       "shape": {"field": "set", "type": "nominal",
                 "scale": {"domain": ["held out", "in sample"], "range": ["circle", "diamond"]},
                 "legend": {"title": null, "orient": "top-left", "offset": 8, "columns": 1}},
       "fillOpacity": {"condition": {"test": "datum.set == 'held out'", "value": 0.6}, "value": 0},
       "opacity": {"condition": {"param": "picked", "value": 0.85}, "value": 0.06},
       "tooltip": [{"field": "run", "type": "nominal"}, {"field": "task", "type": "nominal"}, {"field": "set", "type": "nominal"},
                   {"field": "measured", "type": "nominal"}, {"field": "predicted", "type": "nominal"},
                   {"field": "error_shown", "type": "nominal", "title": "error"}]}}
  ]})json";

constexpr std::string_view kErrors = R"json({
  "layer": [
    {"mark": {"type": "rect", "opacity": 0.10, "color": "#0072B2"},
     "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
    {"mark": {"type": "rule", "color": "#888888", "strokeDash": [5, 4]}, "encoding": {"x": {"datum": 0}}},
    {"mark": {"type": "point", "filled": true, "size": 46, "opacity": 0.7},
     "encoding": {
       "x": {"field": "error", "type": "quantitative",
             "axis": {"title": "predicted / measured − 1", "tickCount": 10,
                      "labelExpr": "(datum.value > 0 ? '+' : '') + format(datum.value * 100, '.3~g') + ' %'"}},
       "y": {"field": "task", "type": "nominal", "axis": {"title": null, "labelLimit": 200}},
       "color": {"field": "task", "type": "nominal", "legend": null},
       "tooltip": [{"field": "run", "type": "nominal"}, {"field": "task", "type": "nominal"},
                   {"field": "measured", "type": "nominal"}, {"field": "predicted", "type": "nominal"},
                   {"field": "error_shown", "type": "nominal", "title": "error"}]}},
    {"mark": {"type": "tick", "thickness": 2.5, "size": 18, "color": "#888888", "tooltip": false},
     "encoding": {"x": {"aggregate": "median", "field": "error", "type": "quantitative"},
                  "y": {"field": "task", "type": "nominal"}}}
  ]})json";

}  // namespace

Json predicted_against_measured(const std::vector<ComparedTime>& times) {
  Json rows = Json::array();
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const ComparedTime& time : times) {
    if (!is_drawable(time)) continue;
    rows.push_back(row_of(time));
    low = std::min({low, time.measured_s, time.predicted_s});
    high = std::max({high, time.measured_s, time.predicted_s});
  }
  if (rows.empty()) return nullptr;
  low /= 1.4;  // room around the outermost points
  high *= 1.4;
  Json band = Json::array();
  for (const double x : {low, high}) {
    band.push_back({{"x", x}, {"low", x * (1 - kErrorBand)}, {"high", x * (1 + kErrorBand)}});
  }
  Json spec = specification("Predicted against measured times, logarithmic axes", 380, kScatter);
  for (auto& layer : spec["layer"]) {
    Json& encoding = layer["encoding"];
    encoding["x"]["scale"] = encoding["y"]["scale"] = log_seconds_scale(low, high);
    encoding["x"]["axis"] = log_seconds_axis("measured", low, high);
    encoding["y"]["axis"] = log_seconds_axis("predicted", low, high);
    layer["data"] = inline_data(band);
  }
  Json& mark = spec["layer"][0]["mark"];
  mark["clip"] = true;
  Json& points = spec["layer"][2];
  points["data"] = inline_data(std::move(rows));
  for (const char* channel : {"stroke", "fill"}) {
    points["encoding"][channel]["scale"] = task_colour_scale(shown_tasks(times));
  }
  return spec;
}

Json errors_by_task(const std::vector<ComparedTime>& times) {
  Json rows = Json::array();
  std::vector<ComparedTime> drawn;
  for (const ComparedTime& time : times) {
    if (!time.held_out || !is_drawable(time)) continue;
    rows.push_back(row_of(time));
    drawn.push_back(time);
  }
  if (rows.empty()) return nullptr;
  const std::vector<std::string> tasks = shown_tasks(drawn);
  Json spec = specification("Errors of the predictions of held-out runs, by task", row_height(tasks.size(), 30),
                            kErrors);
  spec["layer"][0]["data"] = inline_data(Json::array({{{"low", -kErrorBand}, {"high", kErrorBand}}}));
  spec["layer"][1]["data"] = inline_data(Json::array({{{"zero", 0}}}));
  for (const int i : {2, 3}) {
    spec["layer"][i]["data"] = inline_data(rows);
    spec["layer"][i]["encoding"]["y"]["sort"] = tasks;
  }
  spec["layer"][2]["encoding"]["color"]["scale"] = task_colour_scale(tasks);
  return spec;
}

}  // namespace sextant::charts
