// What a fit knows and how well: the spread of a prediction that follows from the spread of the coefficients.
#pragma once

#include <vector>

#include "calibrate/parameters.h"
#include "calibrate/residuals.h"

namespace sextant {

struct Posterior {
  std::vector<Parameter> parameters;
  std::vector<double> coordinates;  // by parameter
  std::vector<int> free;            // parameters that the runs moved, ascending; the others keep their prior
  std::vector<double> covariance;   // of the free ones, row by row

  // Variance of the logarithm of every predicted number of a run (in the order of its times), from the
  // coefficients alone: those that the fit moved, those that kept their prior, and the deviations of device
  // types and frameworks that the fit never saw.
  [[nodiscard]] std::vector<double> log_variances(const PreparedRun& run) const;
};

}  // namespace sextant
