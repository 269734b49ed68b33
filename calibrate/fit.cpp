#include "calibrate/fit.h"

#include <ceres/ceres.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/gradient.h"
#include "calibrate/parameters.h"
#include "core/error.h"
#include "core/statistics.h"

namespace sextant {
namespace {

constexpr double kNormal90 = 1.6449;  // two-sided 90 % quantile

// A residual whose square is twice Huber's loss of r, so that squares can be summed: r inside `limit`, beyond
// it growing as the root of |r|.
struct Robust {
  double value;
  double derivative;
};
Robust huber(double r, double limit) {
  const double size = std::abs(r);
  if (size <= limit) return {r, 1};
  const double root = std::sqrt(2 * limit * size - limit * limit);
  return {r < 0 ? -root : root, limit / root};
}

// A quantity that a group of runs leaves unsaid.
struct Nuisance {
  UnstatedQuantity quantity;
  std::string group;
  double deviation;
};

struct RunResiduals {
  const PreparedRun* run;
  RunGradient gradient;
  double weight = 1;
  std::vector<int> nuisances;                // positions
  std::vector<std::vector<double>> slopes;   // by nuisance, by time

  RunResiduals(const PreparedRun& of, const std::vector<Parameter>& parameters)
      : run(&of), gradient(of, parameters) {}
};

class Fit {
 public:
  Fit(const Runs& runs, const std::vector<const PreparedRun*>& selected, const FitOptions& options,
      const Coefficients& start)
      : options_(options) {
    for (const PreparedRun* run : selected) names_.push_back(run->run().name);
    parameters_ = free_parameters(runs, names_, start);
    for (const Parameter& parameter : parameters_) coordinates_.push_back(parameter.prior_coordinate());
    for (const PreparedRun* run : selected) {
      runs_.emplace_back(*run, parameters_);
      times_ += static_cast<int>(run->times().size());
    }
    weigh_like_runs();
    add_nuisances();
    coordinates_.resize(parameters_.size() + nuisances_.size(), 0.0);
  }

  void solve() {
    find_relevant();
    run_solver();
    const double initial_cost = summary_.initial_cost;
    // What became relevant on the way joins in a second pass.
    const std::size_t before = free_.size();
    find_relevant();
    if (free_.size() != before || !nuisances_.empty()) run_solver();
    summary_.initial_cost = initial_cost;
  }

  [[nodiscard]] FitResult result() {
    const Eigen::MatrixXd covariance = posterior();
    FitResult result;
    result.posterior = posterior_of(covariance);
    for (std::size_t n = 0; n < nuisances_.size(); ++n) {
      result.unstated.push_back(
          {nuisances_[n].quantity, nuisances_[n].group, coordinates_[parameters_.size() + n]});
    }
    Coefficients& fitted = result.coefficients;
    fitted.fit = summarise(covariance);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (!parameters_[p].is_deviation) fitted.values.push_back(coefficient(p, -1, covariance));
    }
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (parameters_[p].is_deviation) fitted.values.push_back(coefficient(common_of(p), static_cast<int>(p), covariance));
    }
    return result;
  }

 private:
  class Cost;

  // Without what sources left unsaid, which is no coefficient.
  [[nodiscard]] Posterior posterior_of(const Eigen::MatrixXd& covariance) const {
    Posterior posterior;
    posterior.parameters = parameters_;
    posterior.coordinates.assign(coordinates_.begin(),
                                 coordinates_.begin() + static_cast<std::ptrdiff_t>(parameters_.size()));
    std::vector<Eigen::Index> kept;
    for (std::size_t f = 0; f < free_.size(); ++f) {
      if (static_cast<std::size_t>(free_[f]) >= parameters_.size()) continue;
      posterior.free.push_back(free_[f]);
      kept.push_back(static_cast<Eigen::Index>(f));
    }
    for (const Eigen::Index a : kept) {
      for (const Eigen::Index b : kept) posterior.covariance.push_back(covariance(a, b));
    }
    return posterior;
  }

  // Runs that differ in counts only share most of their error.
  void weigh_like_runs() {
    std::map<std::string, int> count;
    std::vector<std::string> keys;
    for (const RunResiduals& run : runs_) {
      keys.push_back(likeness(*run.run));
      ++count[keys.back()];
    }
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      runs_[r].weight = std::sqrt(1.0 / (1.0 + (count[keys[r]] - 1) * options_.likeness_correlation));
    }
  }

  static std::string likeness(const PreparedRun& run) {
    std::string key = run.run().framework;
    for (const TaskWork& work : run.works()) {
      const Replica& replica = work.plan->replicas.front();
      key += "|" + work.task->name + ":" + work.model->name + ":" + std::to_string(work.model->hidden) + ":" +
             run.cluster().type_name(replica.stages.front().devices.front()) + ":" +
             std::to_string(work.plan->tensor_parallel(replica.stages.front())) + ":" +
             std::to_string(work.plan->micro_batch_sequences) + ":" + std::to_string(work.sequence_tokens());
    }
    return key;
  }

  void add_nuisances() {
    for (RunResiduals& run : runs_) {
      for (const Unstated& unstated : run.run->run().unstated) {
        const auto found = std::find_if(nuisances_.begin(), nuisances_.end(), [&](const Nuisance& known) {
          return known.quantity == unstated.quantity && known.group == unstated.group;
        });
        run.nuisances.push_back(static_cast<int>(found - nuisances_.begin()));
        if (found == nuisances_.end()) nuisances_.push_back({unstated.quantity, unstated.group, unstated.deviation});
      }
    }
  }

  void find_relevant() {
    std::vector<bool> used(coordinates_.size(), false);
    for (RunResiduals& run : runs_) {
      run.gradient.find_relevant(coordinates_.data());
      for (const int column : run.gradient.columns()) used[static_cast<std::size_t>(column)] = true;
      update_slopes(run);
    }
    for (std::size_t n = 0; n < nuisances_.size(); ++n) used[parameters_.size() + n] = true;
    free_.clear();
    column_of_.assign(coordinates_.size(), -1);
    for (std::size_t p = 0; p < used.size(); ++p) {
      if (!used[p]) continue;
      column_of_[p] = static_cast<int>(free_.size());
      free_.push_back(static_cast<int>(p));
    }
  }

  void update_slopes(RunResiduals& run) {
    run.slopes.clear();
    if (run.nuisances.empty()) return;
    const auto predict = [&](const PreparedRun& changed) {
      return RunGradient(changed, parameters_).predict(coordinates_.data());
    };
    for (const int n : run.nuisances) {
      run.slopes.push_back(log_slopes(*run.run, nuisances_[static_cast<std::size_t>(n)].quantity, predict));
    }
  }

  // Everything scaled by its deviation; priors included. Rows of the Jacobian by free column.
  void residuals_of(const RunResiduals& run, const double* free, double* residuals, Eigen::MatrixXd* jacobian,
                    int row) const {
    std::vector<double> all = coordinates_;
    for (std::size_t f = 0; f < free_.size(); ++f) all[static_cast<std::size_t>(free_[f])] = free[f];
    const std::vector<MeasuredTime>& times = run.run->times();
    RunGradient::Result result;
    if (jacobian != nullptr) {
      run.gradient.evaluate(all.data(), result);
    } else {
      result.predicted = run.gradient.predict(all.data());
    }
    for (std::size_t t = 0; t < times.size(); ++t) {
      const double scale = run.weight / deviation_of(times[t]);
      double error = log_error(times[t], result.predicted[t]);
      for (std::size_t n = 0; n < run.nuisances.size(); ++n) {
        error += run.slopes[n][t] * all[parameters_.size() + static_cast<std::size_t>(run.nuisances[n])];
      }
      const Robust robust = huber(error * scale, options_.huber_deviations);
      residuals[row] = robust.value;
      if (jacobian != nullptr) {
        const double chain = robust.derivative * scale / (result.predicted[t] + times[t].negligible);
        const std::vector<int>& columns = run.gradient.columns();
        for (std::size_t c = 0; c < columns.size(); ++c) {
          const int column = column_of_[static_cast<std::size_t>(columns[c])];
          if (column >= 0) (*jacobian)(row, column) = chain * result.by_parameter[t][c];
        }
        for (std::size_t n = 0; n < run.nuisances.size(); ++n) {
          const auto position = parameters_.size() + static_cast<std::size_t>(run.nuisances[n]);
          (*jacobian)(row, column_of_[position]) += robust.derivative * scale * run.slopes[n][t];
        }
      }
      ++row;
    }
  }

  [[nodiscard]] double deviation_of(const MeasuredTime& time) const {
    const double model = time.is_memory() ? 0.0 : options_.model_log_deviation;
    return std::sqrt(time.log_deviation() * time.log_deviation() + model * model);
  }

  [[nodiscard]] double prior_of(int position) const {
    const auto p = static_cast<std::size_t>(position);
    return p < parameters_.size() ? parameters_[p].prior_coordinate() : 0.0;
  }
  [[nodiscard]] double prior_deviation_of(int position) const {
    const auto p = static_cast<std::size_t>(position);
    if (p >= parameters_.size()) return nuisances_[p - parameters_.size()].deviation;
    return parameters_[p].prior_deviation() / options_.prior_weight;
  }

  void run_solver();

  // Of all free coordinates, from the Gauss-Newton Hessian with priors and loss. Misfit beyond the assumed
  // deviations widens it, never beyond the priors.
  [[nodiscard]] Eigen::MatrixXd posterior() const {
    const int n = static_cast<int>(free_.size());
    Eigen::MatrixXd information = Eigen::MatrixXd::Zero(n, n);
    std::vector<double> free(free_.size());
    for (int f = 0; f < n; ++f) free[static_cast<std::size_t>(f)] = coordinates_[static_cast<std::size_t>(free_[static_cast<std::size_t>(f)])];
    std::vector<double> weighted;
    for (const RunResiduals& run : runs_) {
      const int rows = static_cast<int>(run.run->times().size());
      Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(rows, n);
      std::vector<double> residuals(static_cast<std::size_t>(rows));
      residuals_of(run, free.data(), residuals.data(), &jacobian, 0);
      information += jacobian.transpose() * jacobian;
      for (const double residual : residuals) weighted.push_back(std::abs(residual));
    }
    const double scale = weighted.empty() ? 1.0 : std::max(1.0, median(weighted) / 0.6745);
    information /= scale * scale;
    for (int f = 0; f < n; ++f) {
      const double deviation = prior_deviation_of(free_[static_cast<std::size_t>(f)]);
      information(f, f) += 1.0 / (deviation * deviation);
    }
    return information.ldlt().solve(Eigen::MatrixXd::Identity(n, n));
  }

  [[nodiscard]] std::vector<double> log_errors(bool iterations) const {
    std::vector<double> errors;
    for (const RunResiduals& run : runs_) {
      const std::vector<double> predicted = run.gradient.predict(coordinates_.data());
      for (std::size_t t = 0; t < predicted.size(); ++t) {
        const MeasuredTime& time = run.run->times()[t];
        if (time.is_memory() || time.is_iteration() != iterations) continue;
        double error = log_error(time, predicted[t]);
        for (std::size_t n = 0; n < run.nuisances.size(); ++n) {
          error += run.slopes[n][t] * coordinates_[parameters_.size() + static_cast<std::size_t>(run.nuisances[n])];
        }
        errors.push_back(std::abs(error));
      }
    }
    return errors;
  }

  // Spread of new predictions: the 90 % quantile of the errors in sample as a standard deviation, enlarged for
  // the freedom that the fit had.
  [[nodiscard]] double predictive_deviation(bool iterations, double used) const {
    const std::vector<double> errors = log_errors(iterations);
    if (errors.empty()) return 0;
    const double all = static_cast<double>(times_);
    const double freedom = std::min(used, 0.75 * all);
    return quantile(errors, 0.9) / kNormal90 * std::sqrt(all / (all - freedom));
  }

  [[nodiscard]] FitSummary summarise(const Eigen::MatrixXd& covariance) const {
    FitSummary fit;
    fit.runs = names_;
    fit.residuals = times_;
    double used = 0;  // effective number of coefficients: what the runs took from the priors
    for (std::size_t f = 0; f < free_.size(); ++f) {
      if (static_cast<std::size_t>(free_[f]) < parameters_.size()) ++fit.free_coefficients;
      const double prior = prior_deviation_of(free_[f]);
      const auto i = static_cast<Eigen::Index>(f);
      used += std::max(0.0, 1.0 - covariance(i, i) / (prior * prior));
    }
    fit.converged = summary_.termination_type == ceres::CONVERGENCE;
    fit.message = summary_.message;
    fit.initial_cost = summary_.initial_cost;
    fit.final_cost = summary_.final_cost;
    fit.task_log_deviation = predictive_deviation(false, used);
    fit.iteration_log_deviation = predictive_deviation(true, used);
    return fit;
  }

  [[nodiscard]] std::size_t common_of(std::size_t deviation) const {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (!parameters_[p].is_deviation && parameters_[p].id == parameters_[deviation].id) return p;
    }
    SEXTANT_CHECK(!"every deviation has a common value");
    return 0;
  }

  // The value of a common parameter, or of it with one deviation.
  [[nodiscard]] Coefficient coefficient(std::size_t common, int deviation, const Eigen::MatrixXd& covariance) const {
    constexpr double kAtBound = 1e-6;  // in fit coordinates
    const Parameter& parameter = parameters_[common];
    const Parameter& own = deviation < 0 ? parameter : parameters_[static_cast<std::size_t>(deviation)];
    const bool logarithmic = parameter.spec().scale == CoefficientScale::logarithmic;
    const double factor = deviation < 0 ? 1.0 : std::exp(coordinates_[static_cast<std::size_t>(deviation)]);
    const double prior_factor = deviation < 0 ? 1.0 : std::exp(own.prior);
    const double base = parameter.value(coordinates_[common]);
    // Deviation of log(value), or of the value in units of its prior deviation.
    const double by_deviation = logarithmic ? 1.0 : factor * base / parameter.spec().prior_deviation;
    const double by_common = logarithmic ? 1.0 : factor;
    const double prior_of_common = parameter.prior_deviation();
    const double prior_of_own = deviation < 0 ? 0.0 : own.prior_deviation();
    const double prior_spread = std::hypot(by_common * prior_of_common, by_deviation * prior_of_own);
    double variance = 0;
    const int c = column_of_[common];
    const int d = deviation < 0 ? -1 : column_of_[static_cast<std::size_t>(deviation)];
    variance += by_common * by_common * (c >= 0 ? covariance(c, c) : prior_of_common * prior_of_common);
    if (deviation >= 0) {
      variance += by_deviation * by_deviation * (d >= 0 ? covariance(d, d) : prior_of_own * prior_of_own);
      if (c >= 0 && d >= 0) variance += 2 * by_common * by_deviation * covariance(c, d);
    }
    const double spread = std::min(prior_spread, std::sqrt(std::max(0.0, variance)));
    Coefficient fitted;
    fitted.id = parameter.id;
    fitted.device_type = own.device_type;
    fitted.framework = own.framework;
    fitted.value = base * factor;
    fitted.prior = parameter.prior * prior_factor;
    fitted.standard_error = logarithmic ? spread : spread * parameter.spec().prior_deviation;
    const double low = logarithmic ? fitted.value * std::exp(-kNormal90 * spread)
                                   : fitted.value - kNormal90 * *fitted.standard_error;
    const double high = logarithmic ? fitted.value * std::exp(kNormal90 * spread)
                                    : fitted.value + kNormal90 * *fitted.standard_error;
    fitted.low = std::min(fitted.value, std::max(parameter.spec().lower, low));
    fitted.high = std::max(fitted.value, std::min(parameter.spec().upper, high));
    fitted.identified = spread <= options_.identified_share * prior_spread && (c >= 0 || d >= 0);
    const double coordinate = coordinates_[common];
    fitted.at_bound = coordinate - parameter.lower() < kAtBound || parameter.upper() - coordinate < kAtBound;
    return fitted;
  }

  FitOptions options_;
  std::vector<std::string> names_;
  std::vector<Parameter> parameters_;
  std::vector<Nuisance> nuisances_;
  std::vector<RunResiduals> runs_;
  int times_ = 0;
  std::vector<double> coordinates_;  // of parameters, then of nuisances
  std::vector<int> free_;            // positions of coordinates that the runs depend on
  std::vector<int> column_of_;       // by position; -1 where the prior stands
  ceres::Solver::Summary summary_;
};

// All residuals and priors as one function of the free coordinates.
class Fit::Cost : public ceres::CostFunction {
 public:
  explicit Cost(const Fit& fit) : fit_(fit) {
    mutable_parameter_block_sizes()->push_back(static_cast<int>(fit.free_.size()));
    set_num_residuals(fit.times_ + static_cast<int>(fit.free_.size()));
  }

  bool Evaluate(double const* const* coordinates, double* residuals, double** jacobians) const override {
    const int columns = static_cast<int>(fit_.free_.size());
    const bool derive = jacobians != nullptr && jacobians[0] != nullptr;
    Eigen::MatrixXd jacobian;
    if (derive) jacobian = Eigen::MatrixXd::Zero(num_residuals(), columns);
    int row = 0;
    for (const RunResiduals& run : fit_.runs_) {
      fit_.residuals_of(run, coordinates[0], residuals, derive ? &jacobian : nullptr, row);
      row += static_cast<int>(run.run->times().size());
    }
    for (int f = 0; f < columns; ++f, ++row) {
      const int position = fit_.free_[static_cast<std::size_t>(f)];
      const double deviation = fit_.prior_deviation_of(position);
      residuals[row] = (coordinates[0][f] - fit_.prior_of(position)) / deviation;
      if (derive) jacobian(row, f) = 1.0 / deviation;
    }
    if (derive) {
      using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      Eigen::Map<RowMajor>(jacobians[0], num_residuals(), columns) = jacobian;
    }
    for (int i = 0; i < num_residuals(); ++i) {
      if (!std::isfinite(residuals[i])) return false;
    }
    return true;
  }

 private:
  const Fit& fit_;
};

void Fit::run_solver() {
  std::vector<double> free;
  for (const int position : free_) free.push_back(coordinates_[static_cast<std::size_t>(position)]);
  if (free.empty()) return;
  ceres::Problem problem;
  problem.AddResidualBlock(new Cost(*this), nullptr, free.data());
  for (std::size_t f = 0; f < free_.size(); ++f) {
    const auto p = static_cast<std::size_t>(free_[f]);
    const bool nuisance = p >= parameters_.size();
    const UnstatedRange range =
        nuisance ? range_of(nuisances_[p - parameters_.size()].quantity)
                 : UnstatedRange{parameters_[p].lower(), parameters_[p].upper()};
    problem.SetParameterLowerBound(free.data(), static_cast<int>(f), range.lower);
    problem.SetParameterUpperBound(free.data(), static_cast<int>(f), range.upper);
  }
  ceres::Solver::Options solver;
  solver.max_num_iterations = options_.most_iterations;
  solver.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
  solver.function_tolerance = 1e-9;
  solver.logging_type = ceres::SILENT;
  ceres::Solve(solver, &problem, &summary_);
  for (std::size_t f = 0; f < free_.size(); ++f) coordinates_[static_cast<std::size_t>(free_[f])] = free[f];
}

}  // namespace

FitResult fit_prepared(const Runs& runs, const std::vector<const PreparedRun*>& selected,
                          const FitOptions& options, const Coefficients& start) {
  if (selected.empty()) throw_bad_input("no runs to fit: choose at least one");
  Fit fit(runs, selected, options, start);
  fit.solve();
  return fit.result();
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
  for (const PreparedRun& run : prepared) pointers.push_back(&run);
  return fit_prepared(runs, pointers, options, start).coefficients;
}

}  // namespace sextant
