#include "reports/charts/search_chart.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/vega_lite.h"

namespace sextant::charts {
namespace {

constexpr double kMin_s = 1e-5;  // a logarithm has no zero

constexpr std::string_view kBody = R"json({
  "layer": [
    {"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "color": "#0072B2",
              "point": {"size": 36, "color": "#0072B2"}},
     "encoding": {"x": {"field": "seconds", "type": "quantitative"},
                  "y": {"field": "lowered", "type": "quantitative", "scale": {"zero": false}},
                  "tooltip": [{"field": "best", "type": "nominal"}, {"field": "iteration", "type": "nominal"}, {"field": "after", "type": "nominal"},
                              {"field": "evaluations", "type": "quantitative"}]}},
    {"mark": {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 1.4, "color": "#D55E00"},
     "encoding": {"y": {"field": "value", "type": "quantitative", "scale": {"zero": false}},
                  "tooltip": [{"field": "what", "type": "nominal"}, {"field": "shown", "type": "nominal"}]}}
  ]})json";

bool is_of_time(const SearchRecord& search) { return search.goal == "time"; }

// The quantity that the goal minimizes: seconds or dollars per iteration, or devices.
double lowered(const SearchRecord& search, const Improvement& best) {
  if (is_of_time(search)) return best.iteration_s;
  return search.goal == "devices" ? std::floor(best.loss) : best.loss;
}

std::string shown(const SearchRecord& search, double value) {
  if (is_of_time(search)) return format_seconds(value);
  return format_number(value) + (search.goal == "devices" ? " devices" : " dollars");
}

Json point(const SearchRecord& search, const Improvement& best, double seconds, std::uint64_t evaluations) {
  const double value = lowered(search, best);
  return {{"seconds", std::max(seconds, kMin_s)},
          {"lowered", value},
          {"evaluations", evaluations},
          {"best", shown(search, value)},
          {"iteration", "iteration " + format_seconds(best.iteration_s)},
          {"after", "after " + format_seconds(seconds)}};
}

Json points_of(const SearchRecord& search) {
  Json rows = Json::array();
  for (const Improvement& best : search.curve)
    rows.push_back(point(search, best, best.seconds, best.evaluations));
  const Improvement& last = search.curve.back();
  if (search.wall_s > last.seconds)
    rows.push_back(point(search, last, search.wall_s, std::max(search.candidates, last.evaluations)));
  return rows;
}

// The known bounds for any plan and for the planner's search space.
Json bounds_of(const SearchRecord& search) {
  std::optional<double> of_all, of_space;
  if (search.goal == "time") {
    of_all = search.lower_bound_s;
    of_space = search.space_lower_bound_s;
  } else if (search.goal == "cost") {
    of_all = search.lower_bound_usd;
    of_space = search.space_lower_bound_usd;
  } else {
    of_space = search.space_lower_bound_devices;
  }
  Json bounds = Json::array();
  const auto add = [&](const char* what, const std::optional<double>& value) {
    if (value) bounds.push_back({{"what", what}, {"value", *value}, {"shown", shown(search, *value)}});
  };
  add("bound for any plan", of_all);
  add("bound for the planner's space", of_space);
  return bounds;
}

Json axis_of(const SearchRecord& search) {
  if (is_of_time(search)) return seconds_axis("best iteration so far", search.curve.front().iteration_s);
  return {
      {"title", search.goal == "devices" ? "fewest devices so far" : "cheapest so far (dollars per iteration)"},
      {"tickCount", 6}};
}

}  // namespace

Json search_curve(const SearchRecord& search) {
  if (search.curve.empty()) return nullptr;
  constexpr int kHeight = 260;
  Json spec = specification("The best plan so far over the search time", kHeight, kBody);
  spec["layer"][0]["data"] = inline_data(points_of(search));
  spec["layer"][1]["data"] = inline_data(bounds_of(search));
  const double first_s = std::max(search.curve.front().seconds, kMin_s) / 2;  // room before the first
  const double last_s = std::max({search.wall_s, search.curve.back().seconds, 2 * first_s});
  Json& encoding = spec["layer"][0]["encoding"];
  encoding["x"]["scale"] = log_seconds_scale(first_s, last_s);
  encoding["x"]["axis"] = log_seconds_axis("search time", first_s, last_s);
  encoding["y"]["axis"] = axis_of(search);
  spec["layer"][1]["encoding"]["y"]["axis"] = encoding["y"]["axis"];
  return spec;
}

}  // namespace sextant::charts
