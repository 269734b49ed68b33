// The values of one coefficient computed from rows of a table, and their summary.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/priors/prior_evidence.h"

namespace sextant::inline lab {

class ShownValues {
 public:
  // rows: number of table rows from which the value was computed.
  void add(const std::string& device_type, double value, int rows = 1);
  // Appends one piece of evidence, or none if there are no values.
  void summarize(std::vector<PriorEvidence>& out, CoefficientId id, EvidenceRelation relation,
                 const std::string& table, const std::string& measure) const;

 private:
  std::vector<double> values_;
  std::set<std::string> device_types_;
  int rows_ = 0;
};

// y = intercept + slope x by least squares of the relative errors of y. nullopt with fewer than two different
// x.
struct Line {
  double intercept = 0;
  double slope = 0;
};
struct Point {
  double x = 0;
  double y = 0;
};
[[nodiscard]] std::optional<Line> fit_line(const std::vector<Point>& points);

// y = a u + b v by least squares of the relative errors of y. nullopt if u and v are proportional, or
// nearly.
struct FittedWeights {
  double a = 0;
  double b = 0;
  double squared_error = 0;  // sum over the terms, relative
};
struct WeightedTerm {
  double u = 0;
  double v = 0;
  double y = 0;
};
[[nodiscard]] std::optional<FittedWeights> fit_weights(const std::vector<WeightedTerm>& terms);

}  // namespace sextant::inline lab
