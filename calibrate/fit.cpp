#include "calibrate/fit_result.h"

#include <ceres/ceres.h>

#include <algorithm>
#include <cmath>

#include "calibrate/evidence.h"
#include "calibrate/familiarity.h"
#include "calibrate/fitted.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant {
namespace {

using Coordinates = std::vector<double>;

// Weighted residuals of all times and their slopes by the free coordinates, at one point.
struct Slopes {
  Coordinates at;
  Eigen::VectorXd residuals;
  Eigen::MatrixXd jacobian;  // times x free
};

Slopes slopes_at(const Evidence& evidence, const Coordinates& coordinates) {
  Slopes slopes;
  slopes.at = coordinates;
  slopes.residuals = Eigen::VectorXd::Zero(evidence.times());
  slopes.jacobian = Eigen::MatrixXd::Zero(evidence.times(), static_cast<Eigen::Index>(evidence.free().size()));
  int row = 0;
  for (const Evidence::Observed& observed : evidence.observed()) {
    evidence.residuals_of(observed, coordinates, slopes.residuals.data(), &slopes.jacobian, row);
    row += observed.times();
  }
  return slopes;
}

// All residuals and priors as one function of the free coordinates; the others stay where they are. Leaves the
// slopes that it was asked for last in `latest`.
class Cost : public ceres::CostFunction {
 public:
  Cost(const Evidence& evidence, const Coordinates& coordinates, Slopes& latest)
      : evidence_(evidence), coordinates_(coordinates), latest_(latest) {
    mutable_parameter_block_sizes()->push_back(static_cast<int>(evidence.free().size()));
    set_num_residuals(evidence.times() + static_cast<int>(evidence.free().size()));
  }

  bool Evaluate(double const* const* free, double* residuals, double** jacobians) const override {
    const std::vector<int>& positions = evidence_.free();
    const int columns = static_cast<int>(positions.size());
    Coordinates all = coordinates_;
    for (int f = 0; f < columns; ++f)
      all[static_cast<std::size_t>(positions[static_cast<std::size_t>(f)])] = free[0][f];
    const int times = evidence_.times();
    const auto prior_residual = [&](int f) {
      const int position = positions[static_cast<std::size_t>(f)];
      return (free[0][f] - evidence_.prior_of(position)) / evidence_.prior_deviation_of(position);
    };
    for (int f = 0; f < columns; ++f) residuals[times + f] = prior_residual(f);
    if (jacobians == nullptr || jacobians[0] == nullptr) {
      int row = 0;
      for (const Evidence::Observed& observed : evidence_.observed()) {
        evidence_.residuals_of(observed, all, residuals, nullptr, row);
        row += observed.times();
      }
    } else {
      latest_ = slopes_at(evidence_, all);
      Eigen::Map<Eigen::VectorXd>(residuals, times) = latest_.residuals;
      using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      Eigen::Map<RowMajor> jacobian(jacobians[0], num_residuals(), columns);
      jacobian.topRows(times) = latest_.jacobian;
      jacobian.bottomRows(columns).setZero();
      for (int f = 0; f < columns; ++f) {
        jacobian(times + f, f) = 1.0 / evidence_.prior_deviation_of(positions[static_cast<std::size_t>(f)]);
      }
    }
    return std::all_of(residuals, residuals + num_residuals(), [](double r) { return std::isfinite(r); });
  }

 private:
  const Evidence& evidence_;
  const Coordinates& coordinates_;
  Slopes& latest_;
};

// Relative changes of the cost that end a solve: of one whose weights are about to change, and of the last.
constexpr double kIntermediateTolerance = 1e-3;
constexpr double kFinalTolerance = 1e-8;

// The end point of a descent.
struct Descent {
  ceres::Solver::Summary summary;
  Slopes slopes;
};

Descent minimise(const Evidence& evidence, const FitOptions& options, double tolerance,
                 Coordinates& coordinates) {
  Descent descent;
  const std::vector<int>& positions = evidence.free();
  std::vector<double> free;
  free.reserve(positions.size());
  for (const int position : positions) free.push_back(coordinates[static_cast<std::size_t>(position)]);
  if (free.empty()) {
    descent.slopes = slopes_at(evidence, coordinates);
    return descent;
  }
  ceres::Problem problem;
  problem.AddResidualBlock(new Cost(evidence, coordinates, descent.slopes), nullptr, free.data());
  for (std::size_t f = 0; f < positions.size(); ++f) {
    const UnstatedRange range = evidence.range_of(positions[f]);
    problem.SetParameterLowerBound(free.data(), static_cast<int>(f), range.lower);
    problem.SetParameterUpperBound(free.data(), static_cast<int>(f), range.upper);
  }
  ceres::Solver::Options solver;
  solver.max_num_iterations = options.max_iterations;
  solver.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
  solver.function_tolerance = tolerance;
  // Between bounds every step is searched along; with cubics that asks for a Jacobian more each time.
  solver.line_search_interpolation_type = ceres::QUADRATIC;
  solver.logging_type = ceres::SILENT;
  ceres::Solve(solver, &problem, &descent.summary);
  for (std::size_t f = 0; f < positions.size(); ++f)
    coordinates[static_cast<std::size_t>(positions[f])] = free[f];
  if (descent.slopes.at != coordinates) descent.slopes = slopes_at(evidence, coordinates);
  return descent;
}

// The Gauss-Newton Hessian of all free coordinates, with priors and loss. Misfit beyond the assumed deviations
// lessens what the runs say, never what the priors do.
Eigen::MatrixXd information_of(const Evidence& evidence, const Slopes& slopes) {
  const Eigen::MatrixXd& jacobian = slopes.jacobian;
  std::vector<double> sizes(slopes.residuals.begin(), slopes.residuals.end());
  for (double& size : sizes) size = std::abs(size);
  const double scale = sizes.empty() ? 1.0 : std::max(1.0, median(sizes) / kMedianOfNormal);
  Eigen::MatrixXd information = jacobian.transpose() * jacobian / (scale * scale);
  for (Eigen::Index f = 0; f < jacobian.cols(); ++f) {
    const double deviation = evidence.prior_deviation_of(evidence.free()[static_cast<std::size_t>(f)]);
    information(f, f) += 1.0 / (deviation * deviation);
  }
  return information;
}

Eigen::MatrixXd covariance_of(const Evidence& evidence, const Slopes& slopes) {
  const Eigen::MatrixXd information = information_of(evidence, slopes);
  return information.ldlt().solve(Eigen::MatrixXd::Identity(information.rows(), information.cols()));
}

// How narrow a valley is: half the logarithm of the volume of the priors over its own. With it the depth is the
// logarithm of the probability of the whole valley (Laplace's approximation): a wide valley holds more than a
// narrow one of the same depth, and what the runs leave to the priors counts for nothing.
double log_laplace_volume(const Evidence& evidence, const Slopes& slopes) {
  const Eigen::VectorXd pivots = information_of(evidence, slopes).ldlt().vectorD();
  double sum = 0;
  for (Eigen::Index f = 0; f < pivots.size(); ++f) {
    const double deviation = evidence.prior_deviation_of(evidence.free()[static_cast<std::size_t>(f)]);
    sum += 0.5 * std::log(pivots[f]) + std::log(deviation);
  }
  return sum;
}

// Effective number of coefficients: what the runs took from the priors.
double coefficients_used(const Evidence& evidence, const Eigen::MatrixXd& covariance) {
  double used = 0;
  for (std::size_t f = 0; f < evidence.free().size(); ++f) {
    const double prior = evidence.prior_deviation_of(evidence.free()[f]);
    const auto i = static_cast<Eigen::Index>(f);
    used += std::max(0.0, 1.0 - covariance(i, i) / (prior * prior));
  }
  return used;
}

// One descent from the priors.
struct Attempt {
  Evidence evidence;
  Coordinates coordinates;
  double initial_cost = 0;
  double objective = 0;  // Evidence::disagreement and narrowness: the less, the likelier
};

Attempt attempt_from(double model_log_deviation, Evidence evidence, const FitOptions& options) {
  Coordinates coordinates = evidence.prior_coordinates();
  if (!options.model_log_deviation) evidence.set_model_deviation(model_log_deviation);
  Descent descent = minimise(evidence, options, kIntermediateTolerance, coordinates);
  const double initial_cost = descent.summary.initial_cost;
  // Parameters that became relevant during the descent are added.
  if (evidence.find_relevant(coordinates)) descent.slopes = slopes_at(evidence, coordinates);
  // The model's own spread follows from where the fit is, and the fit from it.
  constexpr int kSpreadPasses = 5;
  for (int pass = 0; pass < kSpreadPasses && !options.model_log_deviation; ++pass) {
    const double used = coefficients_used(evidence, covariance_of(evidence, descent.slopes));
    if (!evidence.estimate_model_deviation(coordinates, used)) break;
    descent = minimise(evidence, options, kIntermediateTolerance, coordinates);
  }
  const double objective = evidence.objective_value(coordinates) + log_laplace_volume(evidence, descent.slopes);
  return {std::move(evidence), std::move(coordinates), initial_cost, objective};
}

}  // namespace

FitResult calibrate::fit_prepared(const Runs& runs, const std::vector<const PreparedRun*>& selected,
                                  const FitOptions& options, const Coefficients& start) {
  if (selected.empty()) throw_bad_input("no runs to fit: choose at least one");
  Evidence first(runs, selected, options, start);
  first.find_relevant(first.prior_coordinates());
  Attempt best = attempt_from(0, first, options);
  bool has_outliers = best.evidence.downweight_outliers(best.coordinates);
  // The cost can have several valleys. Where a descent that trusts the runs from its first step leaves times
  // far from the model, one that trusts the priors until the model follows the runs may end in a likelier one.
  constexpr double kRestartDeviation = 0.3;
  if (has_outliers && !options.model_log_deviation) {
    Attempt loose = attempt_from(kRestartDeviation, std::move(first), options);
    if (loose.objective < best.objective) {
      best = std::move(loose);
      has_outliers = best.evidence.downweight_outliers(best.coordinates);
    }
  }
  Evidence& evidence = best.evidence;
  Coordinates& coordinates = best.coordinates;
  // The weights of outliers follow from where the fit is, too.
  if (has_outliers) {
    (void)minimise(evidence, options, kIntermediateTolerance, coordinates);
    (void)evidence.downweight_outliers(coordinates);
  }
  const Descent last = minimise(evidence, options, kFinalTolerance, coordinates);
  const Solved solved{last.summary.termination_type == ceres::CONVERGENCE,
                      last.summary.message,
                      best.initial_cost,
                      last.summary.final_cost,
                      coordinates,
                      covariance_of(evidence, last.slopes)};
  return fit_result(evidence, solved, options);
}

Coefficients fit_coefficients(const Runs& runs, const std::vector<std::string>& selected,
                              const FitOptions& options, const Coefficients& start) {
  if (selected.empty()) throw_bad_input("no runs to fit: choose at least one");
  for (const std::string& name : selected) {
    if (std::none_of(runs.runs.begin(), runs.runs.end(), [&](const Run& run) { return run.name == name; })) {
      throw_bad_input("no run is named \"" + name + "\"");
    }
  }
  const std::vector<PreparedRun> prepared = prepare(runs, selected);
  std::vector<const PreparedRun*> pointers;
  pointers.reserve(prepared.size());
  for (const PreparedRun& run : prepared) pointers.push_back(&run);
  Coefficients fitted = fit_prepared(runs, pointers, options, start).coefficients;
  fitted.fit->experience = experience_of(pointers);
  if (start.fit) fitted.fit->started_from = deviations_far(*start.fit);
  return fitted;
}

}  // namespace sextant
