// The posterior of a fit: the spread of a prediction that follows from the spread of the coefficients.
//
// In units of the priors' deviations the covariance is the identity minus the information from the runs:
//   C = I - sum over learned directions v of (1 - remaining) v v^T
// Anything that no direction touches keeps its prior, and omitting a direction only widens intervals.
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

namespace sextant::inline calibrate {

struct Posterior {
  std::vector<Parameter> parameters;
  std::vector<double> coordinates;           // by parameter
  std::vector<LearnedDirection> directions;  // `of`: positions of parameters
  std::set<std::string> frameworks;          // those of the runs; a restricted document has values for fewer

  // Whether the values were fitted to runs of this framework (kAny: of the only one).
  [[nodiscard]] bool knows(std::string_view framework) const;

  // Returns the posterior deviation of the logarithm of a coefficient's value for an owner that the fit never
  // saw; 0 if it saw the owner or does not distinguish owners.
  [[nodiscard]] double unseen_type_deviation(CoefficientId id, const std::string& device_type) const;
  [[nodiscard]] double unseen_framework_deviation(CoefficientId id, const std::string& framework) const;

  // Returns the deviation of a parameter, in fit coordinates.
  [[nodiscard]] double deviation_of(int parameter) const;
  // Returns the covariance of two parameters, in fit coordinates.
  [[nodiscard]] double covariance_of(int a, int b) const;

  // Variance of the logarithm of every predicted number of a run (in the order of its times), from the
  // coefficients alone: those that the fit moved, those that kept their prior, and the deviations of device
  // types and frameworks that the fit never saw.
  [[nodiscard]] std::vector<double> log_variances(const PreparedRun& run) const;

  // The slope of the log of one predicted number along a parameter's fit coordinate, and the parameter's part
  // of its variance (with half of each shared part; the parts sum to the variance).
  struct Influence {
    int parameter = 0;
    double slope = 0;
    double variance = 0;
  };
  // Returns the influences on one number of a run, given by its position in times().
  [[nodiscard]] std::vector<Influence> influences(const PreparedRun& run, int time) const;
};

// Returns the posterior of a coefficients document; nullopt if it was not fitted.
[[nodiscard]] std::optional<Posterior> posterior_of(const Coefficients& coefficients);

// Returns the same fit with fewer entries: those of the device types and frameworks that are kept, and all that
// apply to everyone. Information from the runs about them stays, with the other entries marginalised.
[[nodiscard]] Coefficients restricted(const Coefficients& coefficients,
                                      const std::function<bool(const Coefficient&)>& keep);

// Two coefficients whose combination the runs determine better than each alone.
struct Confounded {
  int a = 0;  // positions of parameters
  int b = 0;
  double correlation = 0;
};
// Returns pairs with at least this correlation of which at least one is not identified; strongest first.
[[nodiscard]] std::vector<Confounded> confounded_pairs(const Posterior& posterior, double min_correlation = 0.5,
                                                       double identified_share = 0.6);

}  // namespace sextant::inline calibrate
