#include "reports/charts/cluster_charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/vega_lite.h"
#include "reports/content/names.h"

namespace sextant::charts {
namespace {

constexpr std::string_view kMatrix = R"json({
  "encoding": {
    "x": {"field": "to", "type": "nominal",
          "axis": {"title": "to", "labelAngle": -40, "labelLimit": 110, "labelOverlap": true}},
    "y": {"field": "from", "type": "nominal", "axis": {"title": "from", "labelLimit": 110, "labelOverlap": true}}},
  "layer": [
    {"mark": {"type": "rect", "stroke": null},
     "encoding": {
       "color": {"field": "value", "type": "quantitative",
                 "scale": {"type": "log", "scheme": "viridis", "nice": false},
                 "legend": {"title": null, "orient": "right", "gradientLength": 200}},
       "tooltip": [{"field": "from_name", "type": "nominal", "title": "from"},
                   {"field": "to_name", "type": "nominal", "title": "to"},
                   {"field": "latency", "type": "nominal"}, {"field": "bandwidth", "type": "nominal"},
                   {"field": "source", "type": "nominal"}]}}
  ]})json";

constexpr std::string_view kMatrixText = R"json({
  "mark": {"type": "text", "fontSize": 10},
  "encoding": {"text": {"field": "shown", "type": "nominal"}, "color": {"value": "white"}}})json";

std::string shown_quantity(const Quantity& quantity, std::string (*format)(double)) {
  std::string text = format(quantity.value);
  if (quantity.spread_fraction) text += " ± " + format_percent(*quantity.spread_fraction);
  return text;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
};

Json matrix_rows(const Cluster& cluster, const std::vector<LinkEnd>& ends, LinkProperty property,
                 Range& range) {
  const bool is_latency = property == LinkProperty::latency;
  Json rows = Json::array();
  for (const LinkEnd& from : ends) {
    for (const LinkEnd& to : ends) {
      if (from.device == to.device) continue;
      const LinkRate& rate = cluster.link(from.device, to.device);
      const Quantity& quantity = is_latency ? rate.latency_s : rate.bytes_per_s;
      if (quantity.value > 0) {
        range.low = std::min(range.low, quantity.value);
        range.high = std::max(range.high, quantity.value);
      }
      rows.push_back(
          {{"from", from.label},
           {"to", to.label},
           {"from_name", device_label(from.device, &cluster)},
           {"to_name", device_label(to.device, &cluster)},
           {"value", quantity.value > 0 ? Json(quantity.value) : Json(nullptr)},
           {"shown", is_latency ? format_seconds(quantity.value) : format_bytes_per_s(quantity.value)},
           {"latency", shown_quantity(rate.latency_s, format_seconds)},
           {"bandwidth", shown_quantity(rate.bytes_per_s, format_bytes_per_s)},
           {"source", shown_name(quantity.source)}});
    }
  }
  return rows;
}

// Colours need a range even when all links are alike.
Range widened(Range range) {
  constexpr double kMinRatio = 1.2;
  if (!(range.low <= range.high)) return {1, kMinRatio};
  if (range.high / range.low >= kMinRatio) return range;
  const double middle = std::sqrt(range.low * range.high);
  return {middle / std::sqrt(kMinRatio), middle * std::sqrt(kMinRatio)};
}

std::vector<std::string> labels_of(const std::vector<LinkEnd>& ends) {
  std::vector<std::string> labels;
  labels.reserve(ends.size());
  for (const LinkEnd& end : ends) labels.push_back(end.label);
  return labels;
}

void add_values(Json& spec, bool is_latency, double middle) {
  Json text = Json::parse(kMatrixText);
  // Light cells (short latency, much bandwidth) carry dark text.
  const std::string test = std::string("datum.value ") + (is_latency ? "<" : ">") + " " + Json(middle).dump();
  text["encoding"]["color"]["condition"] = {{"test", test}, {"value", "#111111"}};
  spec["layer"].push_back(std::move(text));
}

}  // namespace

Json link_matrix(const Cluster& cluster, const std::vector<LinkEnd>& ends, LinkProperty property) {
  const bool is_latency = property == LinkProperty::latency;
  Range range;
  Json rows = matrix_rows(cluster, ends, property, range);
  range = widened(range);
  const double middle = std::sqrt(range.low * range.high);
  const int height = std::clamp(static_cast<int>(ends.size()) * 36, 110, 400);
  Json spec = specification(is_latency ? "Latency of the links" : "Bandwidth of the links", height, kMatrix);
  spec["data"] = inline_data(std::move(rows));
  spec["encoding"]["x"]["sort"] = spec["encoding"]["y"]["sort"] = labels_of(ends);
  Json& colour = spec["layer"][0]["encoding"]["color"];
  colour["scale"]["domain"] = {range.low, range.high};
  colour["scale"]["reverse"] = is_latency;
  colour["legend"]["values"] = {range.low, middle, range.high};
  colour["legend"]["gradientLength"] = std::max(height - 30, 70);
  colour["legend"]["labelExpr"] = is_latency ? kSecondsLabel : "format(datum.value / 1e9, '.3~g') + ' GB/s'";
  constexpr std::size_t kMaxLabelled = 5;  // more would not fit their cells
  if (ends.size() <= kMaxLabelled) add_values(spec, is_latency, middle);
  return spec;
}

}  // namespace sextant::charts
