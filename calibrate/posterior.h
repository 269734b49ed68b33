// What a fit knows and how well: the spread of a prediction that follows from the spread of the coefficients.
//
// In units of the priors' deviations the covariance is the identity minus what the runs taught:
//   C = I - sum over learned directions v of (1 - remaining) v v^T
// so what no direction touches keeps its prior, and leaving a direction out only widens intervals.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/parameters.h"
#include "calibrate/residuals.h"
#include "sextant/fit_summary.h"

namespace sextant {

struct Posterior {
  std::vector<Parameter> parameters;
  std::vector<double> coordinates;           // by parameter
  std::vector<LearnedDirection> directions;  // `of`: positions of parameters
  std::set<std::string> frameworks;          // of the runs; a restricted document has values of fewer

  // Whether runs of this framework (kAny: of the only one) are behind the values.
  [[nodiscard]] bool knows(std::string_view framework) const;

  // Deviation of the logarithm of a coefficient's value from what the fit knows, for an owner that it never
  // saw; 0 where it saw the owner or tells none apart.
  [[nodiscard]] double unseen_type_deviation(CoefficientId id, const std::string& device_type) const;
  [[nodiscard]] double unseen_framework_deviation(CoefficientId id, const std::string& framework) const;

  // Deviation of a parameter, in fit coordinates.
  [[nodiscard]] double deviation_of(int parameter) const;
  // Of two parameters, in fit coordinates.
  [[nodiscard]] double covariance_of(int a, int b) const;

  // Variance of the logarithm of every predicted number of a run (in the order of its times), from the
  // coefficients alone: those that the fit moved, those that kept their prior, and the deviations of device
  // types and frameworks that the fit never saw.
  [[nodiscard]] std::vector<double> log_variances(const PreparedRun& run) const;

  // Slope of the logarithm of one predicted number by a parameter's fit coordinate, and what the parameter adds
  // to its variance (with half of what it shares with each other one; the parts sum to the variance).
  struct Influence {
    int parameter = 0;
    double slope = 0;
    double variance = 0;
  };
  // Of one number of a run, by its position in times().
  [[nodiscard]] std::vector<Influence> influences(const PreparedRun& run, int time) const;
};

// Of a fitted coefficients document; nothing where nobody fitted them.
[[nodiscard]] std::optional<Posterior> posterior_of(const Coefficients& coefficients);

// The same fit with fewer entries: those of the device types and frameworks that are kept, and all that are for
// everyone. What the runs taught about them stays, with what else it was entangled with marginalised.
[[nodiscard]] Coefficients restricted(const Coefficients& coefficients,
                                      const std::function<bool(const Coefficient&)>& keep);

// Two coefficients of which the runs show the combination rather than each alone.
struct Confounded {
  int a = 0;  // parameters
  int b = 0;
  double correlation = 0;
};
// Pairs that are correlated at least so far and of which at least one is not identified; strongest first.
[[nodiscard]] std::vector<Confounded> confounded_pairs(const Posterior& posterior, double min_correlation = 0.5,
                                                       double identified_share = 0.6);

}  // namespace sextant
