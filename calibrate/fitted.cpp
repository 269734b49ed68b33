#include "calibrate/fitted.h"

#include <algorithm>
#include <cmath>

#include "calibrate/posterior_matrices.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline calibrate {
namespace {

class Fitted {
 public:
  Fitted(const Evidence& evidence, const Solved& solved, const FitOptions& options)
      : evidence_(evidence), solved_(solved), options_(options) {}

  [[nodiscard]] FitResult result() const {
    const std::vector<Parameter>& parameters = evidence_.parameters();
    FitResult result;
    result.posterior = posterior();
    for (std::size_t n = 0; n < evidence_.nuisances().size(); ++n) {
      const Evidence::Nuisance& nuisance = evidence_.nuisances()[n];
      const int column = evidence_.column_of()[parameters.size() + n];
      if (column < 0) continue;  // no run depends on it
      result.unstated.push_back({nuisance.quantity, nuisance.group, solved_.coordinates[parameters.size() + n],
                                 std::sqrt(std::max(0.0, solved_.covariance(column, column)))});
    }
    // One entry a parameter and in their order, so that positions are the same.
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const bool own = parameters[p].is_deviation;
      result.coefficients.values.push_back(coefficient(own ? common_of(p) : p, own ? static_cast<int>(p) : -1));
    }
    result.coefficients.fit = summary();
    result.coefficients.fit->directions = result.posterior.directions;
    return result;
  }

 private:
  // Without what sources left unsaid, which is no coefficient.
  [[nodiscard]] Posterior posterior() const {
    Posterior posterior;
    posterior.parameters = evidence_.parameters();
    for (Parameter& parameter : posterior.parameters) parameter.deviation /= options_.prior_weight;
    for (const Evidence::Observed& observed : evidence_.observed()) {
      posterior.frameworks.insert(observed.run->run().framework);
    }
    const std::size_t count = posterior.parameters.size();
    posterior.coordinates.assign(solved_.coordinates.begin(),
                                 solved_.coordinates.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<int> free;  // parameters come first, so they are the upper left of the covariance
    for (const int position : evidence_.free()) {
      if (static_cast<std::size_t>(position) < count) free.push_back(position);
    }
    const auto n = static_cast<Eigen::Index>(free.size());
    posterior.directions =
        learned_directions(posterior.parameters, free, solved_.covariance.topLeftCorner(n, n));
    return posterior;
  }

  template <typename Wanted>
  [[nodiscard]] std::vector<double> log_errors(Wanted is_wanted) const {
    std::vector<double> errors;
    for (const Evidence::Observed& observed : evidence_.observed()) {
      const std::vector<double> of_run = evidence_.log_errors_of(observed, solved_.coordinates);
      for (std::size_t t = 0; t < of_run.size(); ++t) {
        if (is_wanted(observed.run->times()[t])) errors.push_back(std::abs(of_run[t]));
      }
    }
    return errors;
  }

  // Spread of new predictions: the 90 % quantile of the errors in sample as a standard deviation, enlarged for
  // the freedom that the fit had.
  template <typename Wanted>
  [[nodiscard]] double predictive_deviation(Wanted is_wanted, double used) const {
    const std::vector<double> errors = log_errors(is_wanted);
    if (errors.empty()) return 0;
    const double all = evidence_.times();
    const double freedom = std::min(used, 0.75 * all);
    return quantile(errors, 0.9) / kNormal90 * std::sqrt(all / (all - freedom));
  }

  [[nodiscard]] FitSummary summary() const {
    FitSummary fit;
    fit.runs = evidence_.names();
    fit.residuals = evidence_.times();
    double used = 0;  // effective number of coefficients: what the runs took from the priors
    for (std::size_t f = 0; f < evidence_.free().size(); ++f) {
      const int position = evidence_.free()[f];
      if (static_cast<std::size_t>(position) < evidence_.parameters().size()) ++fit.free_coefficients;
      const double prior = evidence_.prior_deviation_of(position);
      const auto i = static_cast<Eigen::Index>(f);
      used += std::max(0.0, 1.0 - solved_.covariance(i, i) / (prior * prior));
    }
    fit.converged = solved_.converged;
    fit.message = solved_.message;
    fit.initial_cost = solved_.initial_cost;
    fit.final_cost = solved_.final_cost;
    fit.task_log_deviation =
        predictive_deviation([](const MeasuredTime& time) { return time.is_timer(); }, used);
    fit.iteration_log_deviation =
        predictive_deviation([](const MeasuredTime& time) { return time.is_iteration(); }, used);
    fit.memory_log_deviation =
        predictive_deviation([](const MeasuredTime& time) { return time.is_memory(); }, used);
    fit.outliers = outliers();
    return fit;
  }

  // Runs with an error so large that the robust loss counts it linearly, when the spread of all errors is what
  // they themselves show.
  [[nodiscard]] std::vector<std::string> outliers() const {
    constexpr double kFarDeviations = 4;  // of the errors' own spread
    std::vector<double> all;
    std::vector<std::pair<double, std::string>> worst;
    for (const Evidence::Observed& observed : evidence_.observed()) {
      double largest = 0;
      const std::vector<double> errors = evidence_.log_errors_of(observed, solved_.coordinates);
      for (std::size_t t = 0; t < errors.size(); ++t) {
        const double scaled = std::abs(errors[t]) / evidence_.deviation_of(observed.run->times()[t]);
        all.push_back(scaled);
        largest = std::max(largest, scaled);
      }
      worst.emplace_back(largest, observed.run->run().name);
    }
    if (all.empty()) return {};
    const double spread = std::max(1.0, median(all) / kMedianOfNormal);
    std::stable_sort(worst.begin(), worst.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (const auto& [size, name] : worst) {
      if (size > kFarDeviations * spread) names.push_back(name);
    }
    return names;
  }

  [[nodiscard]] std::size_t common_of(std::size_t deviation) const {
    const std::vector<Parameter>& parameters = evidence_.parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (!parameters[p].is_deviation && parameters[p].id == parameters[deviation].id) return p;
    }
    SEXTANT_CHECK(false);  // every deviation has a common value
    return 0;
  }

  // The value of a common parameter, or of it with one deviation.
  [[nodiscard]] Coefficient coefficient(std::size_t common, int deviation) const {
    constexpr double kAtBound = 1e-6;  // in fit coordinates
    const Parameter& parameter = evidence_.parameters()[common];
    const Parameter& own =
        deviation < 0 ? parameter : evidence_.parameters()[static_cast<std::size_t>(deviation)];
    const std::vector<double>& coordinates = solved_.coordinates;
    const Eigen::MatrixXd& covariance = solved_.covariance;
    const bool logarithmic = parameter.spec().scale == CoefficientScale::logarithmic;
    const double factor = deviation < 0 ? 1.0 : std::exp(coordinates[static_cast<std::size_t>(deviation)]);
    const double prior_factor = deviation < 0 ? 1.0 : std::exp(own.prior);
    const double base = parameter.value(coordinates[common]);
    // Deviation of log(value), or of the value in units of its prior deviation.
    const double by_deviation = logarithmic ? 1.0 : factor * base / parameter.spec().prior_deviation;
    const double by_common = logarithmic ? 1.0 : factor;
    const double prior_of_common = parameter.prior_deviation() / options_.prior_weight;
    const double prior_of_own = deviation < 0 ? 0.0 : own.prior_deviation() / options_.prior_weight;
    const double prior_spread = std::hypot(by_common * prior_of_common, by_deviation * prior_of_own);
    double variance = 0;
    const int c = evidence_.column_of()[common];
    const int d = deviation < 0 ? -1 : evidence_.column_of()[static_cast<std::size_t>(deviation)];
    variance += by_common * by_common * (c >= 0 ? covariance(c, c) : prior_of_common * prior_of_common);
    if (deviation >= 0) {
      variance += by_deviation * by_deviation * (d >= 0 ? covariance(d, d) : prior_of_own * prior_of_own);
      if (c >= 0 && d >= 0) variance += 2 * by_common * by_deviation * covariance(c, d);
    }
    const double spread = std::min(prior_spread, std::sqrt(std::max(0.0, variance)));
    const double unit = logarithmic ? 1.0 : parameter.spec().prior_deviation;
    Coefficient fitted;
    fitted.id = parameter.id;
    fitted.device_type = own.device_type;
    fitted.framework = own.framework;
    fitted.value = base * factor;
    fitted.prior = parameter.prior * prior_factor;
    fitted.prior_error = deviation < 0 ? prior_of_common * unit : prior_of_own;
    fitted.standard_error = spread * unit;
    const double low = logarithmic ? fitted.value * std::exp(-kNormal90 * spread)
                                   : fitted.value - kNormal90 * *fitted.standard_error;
    const double high = logarithmic ? fitted.value * std::exp(kNormal90 * spread)
                                    : fitted.value + kNormal90 * *fitted.standard_error;
    fitted.low = std::min(fitted.value, std::max(parameter.spec().lower, low));
    fitted.high = std::max(fitted.value, std::min(parameter.spec().upper, high));
    fitted.identified = spread <= options_.identified_share * prior_spread && (c >= 0 || d >= 0);
    const double coordinate = coordinates[common];
    fitted.at_bound = coordinate - parameter.lower() < kAtBound || parameter.upper() - coordinate < kAtBound;
    return fitted;
  }

  const Evidence& evidence_;
  const Solved& solved_;
  const FitOptions& options_;
};

}  // namespace

FitResult fit_result(const Evidence& evidence, const Solved& solved, const FitOptions& options) {
  return Fitted(evidence, solved, options).result();
}

}  // namespace sextant::inline calibrate
