#include "calibrate/fit.h"

#include <ceres/ceres.h>

#include <algorithm>
#include <cmath>

#include "calibrate/parameters.h"
#include "calibrate/residuals.h"
#include "core/error.h"

namespace sextant {
namespace {

constexpr int kJetStride = 8;         // derivatives carried through one evaluation of the model
constexpr double kNormal90 = 1.6449;  // two-sided 90 % quantile

// One weighted residual: what Ceres evaluates with doubles and with Jets.
struct TimeResidual {
  const MeasuredTime* time;
  const std::vector<Parameter>* parameters;

  template <typename T>
  bool operator()(T const* const* coordinates, T* residual) const {
    residual[0] = log_error(*time, predicted_s(*time, *parameters, coordinates[0])) / time->log_deviation();
    return true;
  }
};

// Draws one coordinate towards its prior.
struct PriorResidual {
  std::size_t position;
  double prior;
  double deviation;

  template <typename T>
  bool operator()(T const* const* coordinates, T* residual) const {
    residual[0] = (coordinates[0][position] - prior) / deviation;
    return true;
  }
};

class Fit {
 public:
  Fit(const Runs& runs, const std::vector<std::string>& selected, const FitOptions& options,
      const Coefficients& start)
      : options_(options),
        parameters_(free_parameters(runs, selected, start)),
        times_(measured_times(runs, selected)) {
    for (const Parameter& parameter : parameters_)
      coordinates_.push_back(parameter.coordinate(parameter.prior));
    build();
  }

  void solve() {
    ceres::Solver::Options solver;
    solver.max_num_iterations = options_.most_iterations;
    solver.linear_solver_type = ceres::DENSE_QR;
    solver.function_tolerance = 1e-9;
    solver.logging_type = ceres::SILENT;
    ceres::Solve(solver, &problem_, &summary_);
  }

  [[nodiscard]] Coefficients result(const std::vector<std::string>& selected) {
    Coefficients fitted;
    fitted.fit = summarise(selected);
    const std::vector<double> deviations = deviations_of_coordinates();
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      fitted.values.push_back(coefficient(parameters_[p], coordinates_[p], deviations[p]));
    }
    return fitted;
  }

 private:
  template <typename Residual>
  void add(const Residual& residual, ceres::LossFunction* loss) {
    auto* cost = new ceres::DynamicAutoDiffCostFunction<Residual, kJetStride>(new Residual(residual));
    cost->AddParameterBlock(static_cast<int>(coordinates_.size()));
    cost->SetNumResiduals(1);
    problem_.AddResidualBlock(cost, loss, coordinates_.data());
  }

  void build() {
    for (const MeasuredTime& time : times_) {
      add(TimeResidual{&time, &parameters_}, new ceres::HuberLoss(options_.huber_deviations));
    }
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      add(PriorResidual{p, parameters_[p].coordinate(parameters_[p].prior),
                        parameters_[p].prior_deviation() / options_.prior_weight},
          nullptr);
      problem_.SetParameterLowerBound(coordinates_.data(), static_cast<int>(p), parameters_[p].lower());
      problem_.SetParameterUpperBound(coordinates_.data(), static_cast<int>(p), parameters_[p].upper());
    }
  }

  // Posterior deviation of every coordinate from the Gauss-Newton Hessian, priors and loss included.
  [[nodiscard]] std::vector<double> deviations_of_coordinates() {
    const std::size_t n = parameters_.size();
    std::vector<double> deviations;
    for (const Parameter& parameter : parameters_) deviations.push_back(parameter.prior_deviation());
    ceres::Covariance::Options options;
    options.algorithm_type = ceres::DENSE_SVD;
    options.null_space_rank = -1;
    ceres::Covariance covariance(options);
    const double* block = coordinates_.data();
    if (!covariance.Compute({block}, &problem_)) return deviations;
    std::vector<double> matrix(n * n);
    if (!covariance.GetCovarianceBlock(block, block, matrix.data())) return deviations;
    const double scale = std::max(1.0, residual_scale());
    for (std::size_t p = 0; p < n; ++p) {
      // Misfit beyond the assumed deviations widens the interval, never beyond the prior.
      deviations[p] = std::min(deviations[p], scale * std::sqrt(std::max(0.0, matrix[p * n + p])));
    }
    return deviations;
  }

  [[nodiscard]] std::vector<double> log_errors(bool iterations) const {
    std::vector<double> errors;
    for (const MeasuredTime& time : times_) {
      if ((time.what == kIteration) != iterations) continue;
      errors.push_back(std::abs(log_error(time, predicted_s<double>(time, parameters_, coordinates_.data()))));
    }
    return errors;
  }

  // Median weighted residual as a standard deviation: 1 when the assumed deviations are right.
  [[nodiscard]] double residual_scale() const {
    std::vector<double> weighted;
    for (const MeasuredTime& time : times_) {
      weighted.push_back(
          std::abs(log_error(time, predicted_s<double>(time, parameters_, coordinates_.data()))) /
          time.log_deviation());
    }
    return weighted.empty() ? 1.0 : median(weighted) / 0.6745;
  }

  // Spread of new predictions: the 90 % quantile of the errors in sample as a standard deviation, enlarged for
  // the freedom that the fit had.
  [[nodiscard]] double predictive_deviation(bool iterations) const {
    const std::vector<double> errors = log_errors(iterations);
    if (errors.empty()) return 0;
    const double all = static_cast<double>(times_.size());
    const double freedom = std::min(static_cast<double>(parameters_.size()), 0.75 * all);
    return quantile(errors, 0.9) / kNormal90 * std::sqrt(all / (all - freedom));
  }

  [[nodiscard]] FitSummary summarise(const std::vector<std::string>& selected) const {
    FitSummary fit;
    fit.runs = selected;
    fit.residuals = static_cast<int>(times_.size());
    fit.converged = summary_.termination_type == ceres::CONVERGENCE;
    fit.message = summary_.message;
    fit.initial_cost = summary_.initial_cost;
    fit.final_cost = summary_.final_cost;
    fit.task_log_deviation = predictive_deviation(false);
    fit.iteration_log_deviation = predictive_deviation(true);
    return fit;
  }

  [[nodiscard]] Coefficient coefficient(const Parameter& parameter, double coordinate, double deviation) const {
    constexpr double kAtBound = 1e-6;  // in fit coordinates
    const bool logarithmic = parameter.spec().scale == CoefficientScale::logarithmic;
    Coefficient fitted;
    fitted.id = parameter.id;
    fitted.device_type = parameter.device_type;
    fitted.framework = parameter.framework;
    fitted.value = parameter.value(coordinate);
    fitted.prior = parameter.prior;
    fitted.standard_error = logarithmic ? deviation : deviation * parameter.spec().prior_deviation;
    fitted.low = std::max(parameter.spec().lower, parameter.value(coordinate - kNormal90 * deviation));
    fitted.high = std::min(parameter.spec().upper, parameter.value(coordinate + kNormal90 * deviation));
    fitted.identified = deviation <= options_.identified_share * parameter.prior_deviation();
    fitted.at_bound = coordinate - parameter.lower() < kAtBound || parameter.upper() - coordinate < kAtBound;
    return fitted;
  }

  FitOptions options_;
  std::vector<Parameter> parameters_;
  std::vector<MeasuredTime> times_;
  std::vector<double> coordinates_;
  ceres::Problem problem_;
  ceres::Solver::Summary summary_;
};

}  // namespace

Coefficients fit_coefficients(const Runs& runs, const std::vector<std::string>& selected,
                              const FitOptions& options, const Coefficients& start) {
  if (selected.empty()) throw_bad_input("no runs to fit: choose at least one");
  for (const std::string& name : selected) {
    if (std::none_of(runs.runs.begin(), runs.runs.end(), [&](const Run& run) { return run.name == name; })) {
      throw_bad_input("no run is named \"" + name + "\"");
    }
  }
  Fit fit(runs, selected, options, start);
  fit.solve();
  return fit.result(selected);
}

}  // namespace sextant
