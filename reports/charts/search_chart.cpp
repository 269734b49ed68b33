#include "reports/charts/search_chart.h"

#include <algorithm>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/vega_lite.h"

namespace sextant::charts {
namespace {

constexpr double kLeast_s = 1e-5;  // a logarithm has no zero

constexpr std::string_view kBody = R"json({
  "layer": [
    {"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "color": "#0072B2",
              "point": {"size": 36, "color": "#0072B2"}},
     "encoding": {"x": {"field": "seconds", "type": "quantitative"},
                  "y": {"field": "iteration_s", "type": "quantitative", "scale": {"zero": false}},
                  "tooltip": [{"field": "iteration", "type": "nominal"}, {"field": "after", "type": "nominal"},
                              {"field": "evaluations", "type": "quantitative"}]}},
    {"mark": {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 1.4, "color": "#D55E00"},
     "encoding": {"y": {"field": "value", "type": "quantitative", "scale": {"zero": false}},
                  "tooltip": [{"field": "what", "type": "nominal"}, {"field": "shown", "type": "nominal"}]}}
  ]})json";

Json point(double seconds, double iteration_s, std::uint64_t evaluations) {
  return {{"seconds", std::max(seconds, kLeast_s)},
          {"iteration_s", iteration_s},
          {"evaluations", evaluations},
          {"iteration", format_seconds(iteration_s)},
          {"after", "after " + format_seconds(seconds)}};
}

Json points_of(const SearchRecord& search) {
  Json rows = Json::array();
  for (const Improvement& best : search.curve)
    rows.push_back(point(best.seconds, best.iteration_s, best.evaluations));
  const Improvement& last = search.curve.back();
  if (search.wall_s > last.seconds)
    rows.push_back(point(search.wall_s, last.iteration_s, std::max(search.candidates, last.evaluations)));
  return rows;
}

Json bound(const char* what, double value) {
  return {{"what", what}, {"value", value}, {"shown", format_seconds(value)}};
}

}  // namespace

Json search_curve(const SearchRecord& search) {
  if (search.curve.empty()) return nullptr;
  constexpr int kHeight = 260;
  Json spec = specification("Best iteration time so far over the seconds of the search", kHeight, kBody);
  Json bounds = Json::array({bound("no plan is faster", search.lower_bound_s)});
  if (search.space_lower_bound_s)
    bounds.push_back(bound("no plan of the planner's space is faster", *search.space_lower_bound_s));
  spec["layer"][0]["data"] = inline_data(points_of(search));
  spec["layer"][1]["data"] = inline_data(std::move(bounds));
  const double first_s = std::max(search.curve.front().seconds, kLeast_s) / 2;  // room before the first
  const double last_s = std::max({search.wall_s, search.curve.back().seconds, 2 * first_s});
  Json& encoding = spec["layer"][0]["encoding"];
  encoding["x"]["scale"] = log_seconds_scale(first_s, last_s);
  encoding["x"]["axis"] = log_seconds_axis("searched for", first_s, last_s);
  encoding["y"]["axis"] = seconds_axis("best iteration so far", search.curve.front().iteration_s);
  spec["layer"][1]["encoding"]["y"]["axis"] = encoding["y"]["axis"];
  return spec;
}

}  // namespace sextant::charts
