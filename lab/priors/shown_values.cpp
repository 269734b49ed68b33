#include "lab/priors/shown_values.h"

#include "sextant/statistics.h"

namespace sextant::inline lab {

void ShownValues::add(const std::string& device_type, double value, int rows) {
  values_.push_back(value);
  if (!device_type.empty()) device_types_.insert(device_type);
  rows_ += rows;
}

void ShownValues::summarize(std::vector<PriorEvidence>& out, CoefficientId id, EvidenceRelation relation,
                            const std::string& table, const std::string& measure) const {
  if (values_.empty()) return;
  PriorEvidence evidence;
  evidence.id = id;
  evidence.relation = relation;
  evidence.table = table;
  evidence.measure = measure;
  evidence.device_types.assign(device_types_.begin(), device_types_.end());
  evidence.rows = rows_;
  evidence.median = median(values_);
  evidence.low = quantile(values_, 0.05);
  evidence.high = quantile(values_, 0.95);
  out.push_back(std::move(evidence));
}

std::optional<FittedWeights> fit_weights(const std::vector<WeightedTerm>& terms) {
  double uu = 0, uv = 0, vv = 0, u = 0, v = 0;
  for (const WeightedTerm& term : terms) {
    const double s = term.u / term.y, t = term.v / term.y;
    uu += s * s;
    uv += s * t;
    vv += t * t;
    u += s;
    v += t;
  }
  const double determinant = uu * vv - uv * uv;
  constexpr double kProportional = 1e-6;
  if (!(determinant > kProportional * uu * vv)) return std::nullopt;
  FittedWeights weights{(vv * u - uv * v) / determinant, (uu * v - uv * u) / determinant, 0};
  for (const WeightedTerm& term : terms) {
    const double error = (weights.a * term.u + weights.b * term.v) / term.y - 1;
    weights.squared_error += error * error;
  }
  return weights;
}

std::optional<Line> fit_line(const std::vector<Point>& points) {
  std::vector<WeightedTerm> terms;
  terms.reserve(points.size());
  for (const Point& point : points) terms.push_back({1, point.x, point.y});
  const auto weights = fit_weights(terms);
  if (!weights) return std::nullopt;
  return Line{weights->a, weights->b};
}

}  // namespace sextant::inline lab
