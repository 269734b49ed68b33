// The posterior as matrices, for functions that work on all parameters at once. Used only inside this folder,
// which keeps Eigen private.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "calibrate/posterior.h"

namespace sextant::inline calibrate {

// Slopes of the logarithms of a run's predicted numbers, by time and parameter, and the covariance of the
// parameters, both in units of the priors' deviations.
[[nodiscard]] Eigen::MatrixXd scaled_slopes(const Posterior& posterior, const PreparedRun& run);
[[nodiscard]] Eigen::MatrixXd scaled_covariance(const Posterior& posterior);

// Returns the directions of a covariance of some parameters (`free`, positions in `parameters`), in fit
// coordinates. Directions that keep more than `max_remaining` of their prior variance are dropped.
[[nodiscard]] std::vector<LearnedDirection> learned_directions(const std::vector<Parameter>& parameters,
                                                               const std::vector<int>& free,
                                                               const Eigen::MatrixXd& covariance,
                                                               double max_remaining = 0.995);

}  // namespace sextant::inline calibrate
