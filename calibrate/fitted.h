// Turns the final point of a fit into documents: coefficients with intervals, what identified them, outliers.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "calibrate/evidence.h"
#include "calibrate/fit_result.h"

namespace sextant::inline calibrate {

struct Solved {
  bool converged = false;
  std::string message;
  double initial_cost = 0;
  double final_cost = 0;
  std::vector<double> coordinates;  // parameters, then nuisances
  Eigen::MatrixXd covariance;       // for the free coordinates
};

[[nodiscard]] FitResult fit_result(const Evidence& evidence, const Solved& solved, const FitOptions& options);

}  // namespace sextant::inline calibrate
