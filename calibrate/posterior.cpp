#include "calibrate/posterior.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "calibrate/gradient.h"
#include "calibrate/posterior_matrices.h"

namespace sextant::inline calibrate {
namespace {

// Owners of a pooled coefficient that have no deviation of their own: its variance joins with that of the
// common value. By coefficient.
double unseen_variance(const Posterior& posterior, CoefficientId id, const PreparedRun& run,
                       const std::set<std::string>& types) {
  const double of_framework = posterior.unseen_framework_deviation(id, run.run().framework);
  double of_type = 0;
  for (const std::string& type : types) of_type = std::max(of_type, posterior.unseen_type_deviation(id, type));
  return of_framework * of_framework + of_type * of_type;
}

std::set<std::string> types_of(const PreparedRun& run) {
  std::set<std::string> types;
  for (const TaskWork& work : run.works()) {
    for (const auto& of_class : work.kinds) {
      for (const auto& of_stage : of_class) {
        for (const DeviceId device : of_stage) types.insert(run.cluster().type_name(device));
      }
    }
  }
  return types;
}

// The effect of a parameter's prior deviation on the logarithm of a predicted number, and the variance added by
// owners that the fit never saw.
struct RunSlopes {
  std::vector<int> columns;                 // parameters
  std::vector<std::vector<double>> by_log;  // by time and column: slope of the log prediction
  std::vector<std::vector<double>> unseen;  // by time and column: variance
};

RunSlopes slopes_of(const Posterior& posterior, const PreparedRun& run) {
  RunGradient gradient(run, posterior.parameters);
  gradient.find_relevant(posterior.coordinates.data());
  const RunGradient::Result& result = gradient.evaluate(posterior.coordinates.data());
  const std::set<std::string> types = types_of(run);
  RunSlopes slopes;
  slopes.columns = gradient.columns();
  std::vector<double> unseen;
  for (const int column : slopes.columns) {
    const Parameter& parameter = posterior.parameters[static_cast<std::size_t>(column)];
    unseen.push_back(parameter.is_deviation ? 0.0 : unseen_variance(posterior, parameter.id, run, types));
  }
  for (std::size_t t = 0; t < result.predicted.size(); ++t) {
    std::vector<double> by_log, added;
    for (std::size_t c = 0; c < slopes.columns.size(); ++c) {
      const auto p = static_cast<std::size_t>(slopes.columns[c]);
      const double slope = result.by_parameter[t][c] / result.predicted[t];
      // The deviations of owners are of the logarithm for linear coefficients too.
      const bool logarithmic = posterior.parameters[p].spec().scale == CoefficientScale::logarithmic;
      const double by_owner = logarithmic ? slope : slope * posterior.coordinates[p];
      by_log.push_back(slope);
      added.push_back(unseen[c] * by_owner * by_owner);
    }
    slopes.by_log.push_back(std::move(by_log));
    slopes.unseen.push_back(std::move(added));
  }
  return slopes;
}

// For each parameter: the slope of one log prediction times the deviation of its prior.
std::vector<double> scaled_slopes_of(const Posterior& posterior, const RunSlopes& slopes, std::size_t time) {
  std::vector<double> scaled(posterior.parameters.size(), 0.0);
  for (std::size_t c = 0; c < slopes.columns.size(); ++c) {
    const auto p = static_cast<std::size_t>(slopes.columns[c]);
    scaled[p] = slopes.by_log[time][c] * posterior.parameters[p].prior_deviation();
  }
  return scaled;
}

double along(const LearnedDirection& direction, const std::vector<double>& scaled) {
  double sum = 0;
  for (std::size_t i = 0; i < direction.of.size(); ++i) {
    sum += scaled[static_cast<std::size_t>(direction.of[i])] * direction.parts[i];
  }
  return sum;
}

}  // namespace

bool Posterior::knows(std::string_view framework) const {
  if (frameworks.empty()) return true;
  if (framework == kAny) return frameworks.size() == 1;
  return frameworks.contains(std::string(framework));
}

double Posterior::unseen_type_deviation(CoefficientId id, const std::string& device_type) const {
  bool tells_types = false;
  for (const Parameter& parameter : parameters) {
    if (parameter.id != id) continue;
    if (parameter.is_deviation ? parameter.framework != kAny : parameter.device_type == kAny) continue;
    if (parameter.device_type == device_type) return 0;
    tells_types = true;
  }
  return tells_types ? spec_of(id).type_deviation : 0.0;
}

double Posterior::unseen_framework_deviation(CoefficientId id, const std::string& framework) const {
  bool tells_frameworks = frameworks.size() > 1;
  for (const Parameter& parameter : parameters) {
    if (parameter.id != id || !parameter.is_deviation || parameter.framework == kAny) continue;
    if (parameter.framework == framework) return 0;
    tells_frameworks = true;
  }
  // One framework's value is the common one.
  if (!tells_frameworks && knows(framework)) return 0;
  return spec_of(id).framework_deviation;
}

double Posterior::deviation_of(int parameter) const { return std::sqrt(covariance_of(parameter, parameter)); }

double Posterior::covariance_of(int a, int b) const {
  double scaled = a == b ? 1.0 : 0.0;
  for (const LearnedDirection& direction : directions) {
    double of_a = 0, of_b = 0;
    for (std::size_t i = 0; i < direction.of.size(); ++i) {
      if (direction.of[i] == a) of_a = direction.parts[i];
      if (direction.of[i] == b) of_b = direction.parts[i];
    }
    scaled -= (1 - direction.remaining) * of_a * of_b;
  }
  if (a == b) scaled = std::max(0.0, scaled);
  return scaled * parameters[static_cast<std::size_t>(a)].prior_deviation() *
         parameters[static_cast<std::size_t>(b)].prior_deviation();
}

std::vector<double> Posterior::log_variances(const PreparedRun& run) const {
  const RunSlopes slopes = slopes_of(*this, run);
  std::vector<double> variances;
  for (std::size_t t = 0; t < slopes.by_log.size(); ++t) {
    const std::vector<double> scaled = scaled_slopes_of(*this, slopes, t);
    double variance = std::inner_product(scaled.begin(), scaled.end(), scaled.begin(), 0.0);
    for (const LearnedDirection& direction : directions) {
      const double learned = along(direction, scaled);
      variance -= (1 - direction.remaining) * learned * learned;
    }
    const std::vector<double>& unseen = slopes.unseen[t];
    variances.push_back(std::max(0.0, variance) + std::accumulate(unseen.begin(), unseen.end(), 0.0));
  }
  return variances;
}

std::vector<Posterior::Influence> Posterior::influences(const PreparedRun& run, int time) const {
  const RunSlopes slopes = slopes_of(*this, run);
  const auto t = static_cast<std::size_t>(time);
  const std::vector<double> scaled = scaled_slopes_of(*this, slopes, t);
  std::vector<double> variance(scaled.size());
  std::transform(scaled.begin(), scaled.end(), variance.begin(), [](double part) { return part * part; });
  for (const LearnedDirection& direction : directions) {
    const double learned = along(direction, scaled);
    for (std::size_t i = 0; i < direction.of.size(); ++i) {
      const auto p = static_cast<std::size_t>(direction.of[i]);
      variance[p] -= (1 - direction.remaining) * learned * scaled[p] * direction.parts[i];
    }
  }
  std::vector<Influence> influences;
  for (std::size_t c = 0; c < slopes.columns.size(); ++c) {
    const int p = slopes.columns[c];
    influences.push_back({p, slopes.by_log[t][c], variance[static_cast<std::size_t>(p)] + slopes.unseen[t][c]});
  }
  return influences;
}

Eigen::MatrixXd scaled_slopes(const Posterior& posterior, const PreparedRun& run) {
  const RunSlopes slopes = slopes_of(posterior, run);
  const auto n = static_cast<Eigen::Index>(posterior.parameters.size());
  Eigen::MatrixXd all(static_cast<Eigen::Index>(slopes.by_log.size()), n);
  for (std::size_t t = 0; t < slopes.by_log.size(); ++t) {
    const std::vector<double> scaled = scaled_slopes_of(posterior, slopes, t);
    all.row(static_cast<Eigen::Index>(t)) = Eigen::Map<const Eigen::RowVectorXd>(scaled.data(), n);
  }
  return all;
}

Eigen::MatrixXd scaled_covariance(const Posterior& posterior) {
  const auto n = static_cast<Eigen::Index>(posterior.parameters.size());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(n, n);
  for (const LearnedDirection& direction : posterior.directions) {
    for (std::size_t i = 0; i < direction.of.size(); ++i) {
      for (std::size_t j = 0; j < direction.of.size(); ++j) {
        covariance(direction.of[i], direction.of[j]) -=
            (1 - direction.remaining) * direction.parts[i] * direction.parts[j];
      }
    }
  }
  return covariance;
}

std::vector<LearnedDirection> learned_directions(const std::vector<Parameter>& parameters,
                                                 const std::vector<int>& free,
                                                 const Eigen::MatrixXd& covariance, double max_remaining) {
  constexpr double kMinPart = 1e-4;
  const auto n = static_cast<Eigen::Index>(free.size());
  if (n == 0) return {};
  Eigen::MatrixXd scaled(n, n);
  const auto deviation = [&](Eigen::Index i) {
    return parameters[static_cast<std::size_t>(free[static_cast<std::size_t>(i)])].prior_deviation();
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) scaled(i, j) = covariance(i, j) / (deviation(i) * deviation(j));
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scaled);
  std::vector<LearnedDirection> directions;
  for (Eigen::Index k = 0; k < n; ++k) {  // ascending: best known first
    const double remaining = std::clamp(solver.eigenvalues()(k), 0.0, 1.0);
    if (remaining > max_remaining) break;
    LearnedDirection direction;
    direction.remaining = remaining;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double part = solver.eigenvectors()(i, k);
      if (std::abs(part) < kMinPart) continue;
      direction.of.push_back(free[static_cast<std::size_t>(i)]);
      direction.parts.push_back(part);
    }
    directions.push_back(std::move(direction));
  }
  return directions;
}

std::optional<Posterior> posterior_of(const Coefficients& coefficients) {
  if (!coefficients.fit) return std::nullopt;
  Posterior posterior;
  std::map<CoefficientId, double> common;  // value for all
  for (const Coefficient& entry : coefficients.values) {
    const CoefficientSpec& spec = spec_of(entry.id);
    const auto known = common.find(entry.id);
    Parameter parameter{entry.id, entry.device_type, entry.framework, known != common.end(), entry.prior, 1.0};
    double coordinate = 0;
    if (parameter.is_deviation) {
      const bool has_ratio = known->second > 0 && entry.value > 0;
      coordinate = has_ratio ? std::log(entry.value / known->second) : 0.0;
      parameter.prior = 0;
      parameter.deviation =
          entry.prior_error.value_or(entry.framework == kAny ? spec.type_deviation : spec.framework_deviation);
    } else {
      common[entry.id] = entry.value;
      coordinate = parameter.coordinate(entry.value);
      if (spec.scale == CoefficientScale::logarithmic) parameter.deviation = spec.prior_deviation;
      if (entry.prior_error) {
        const bool logarithmic = spec.scale == CoefficientScale::logarithmic;
        parameter.deviation = logarithmic ? *entry.prior_error : *entry.prior_error / spec.prior_deviation;
      }
    }
    if (entry.framework != kAny) posterior.frameworks.insert(entry.framework);
    posterior.parameters.push_back(std::move(parameter));
    posterior.coordinates.push_back(coordinate);
  }
  for (const TaskExperience& task : coefficients.fit->experience) posterior.frameworks.insert(task.framework);
  posterior.directions = coefficients.fit->directions;
  // Coefficients that the document leaves out are neutral, and known to be.
  for (const CoefficientSpec& spec : coefficient_table()) {
    if (common.contains(spec.id)) continue;
    Parameter parameter{spec.id, std::string(kAny), std::string(kAny), false, spec.neutral, 0.0};
    posterior.coordinates.push_back(parameter.coordinate(spec.neutral));
    posterior.parameters.push_back(std::move(parameter));
  }
  return posterior;
}

Coefficients restricted(const Coefficients& coefficients, const std::function<bool(const Coefficient&)>& keep) {
  Coefficients out;
  out.fit = coefficients.fit;
  std::vector<int> kept;  // positions
  for (std::size_t i = 0; i < coefficients.values.size(); ++i) {
    const Coefficient& entry = coefficients.values[i];
    const bool for_all = entry.device_type == kAny && entry.framework == kAny;
    if (!for_all && !keep(entry)) continue;
    kept.push_back(static_cast<int>(i));
    out.values.push_back(entry);
  }
  const std::optional<Posterior> posterior = posterior_of(coefficients);
  if (!posterior) return out;
  const Eigen::MatrixXd all = scaled_covariance(*posterior);
  const auto n = static_cast<Eigen::Index>(kept.size());
  Eigen::MatrixXd covariance(n, n);
  std::vector<Parameter> parameters;
  std::vector<int> positions;
  const auto deviation = [&](int p) {
    return posterior->parameters[static_cast<std::size_t>(p)].prior_deviation();
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    const int p = kept[static_cast<std::size_t>(i)];
    parameters.push_back(posterior->parameters[static_cast<std::size_t>(p)]);
    positions.push_back(static_cast<int>(i));
    for (Eigen::Index j = 0; j < n; ++j) {
      const int q = kept[static_cast<std::size_t>(j)];
      covariance(i, j) = all(p, q) * deviation(p) * deviation(q);
    }
  }
  // A document for people's disks: a direction of which less than a twentieth was learned is left out, and so
  // are parts of a hundredth.
  constexpr double kMaxRemaining = 0.95, kMinPart = 0.01, kDigits = 1e4;
  out.fit->directions = learned_directions(parameters, positions, covariance, kMaxRemaining);
  for (LearnedDirection& direction : out.fit->directions) {
    const LearnedDirection whole = std::exchange(direction, {direction.remaining, {}, {}});
    for (std::size_t i = 0; i < whole.parts.size(); ++i) {
      if (std::abs(whole.parts[i]) < kMinPart) continue;
      direction.of.push_back(whole.of[i]);
      direction.parts.push_back(std::round(whole.parts[i] * kDigits) / kDigits);
    }
  }
  return out;
}

std::vector<Confounded> confounded_pairs(const Posterior& posterior, double min_correlation,
                                         double identified_share) {
  std::set<int> touched_set;
  for (const LearnedDirection& direction : posterior.directions) {
    touched_set.insert(direction.of.begin(), direction.of.end());
  }
  const std::vector<int> touched(touched_set.begin(), touched_set.end());
  const auto n = static_cast<Eigen::Index>(touched.size());
  const Eigen::MatrixXd all = scaled_covariance(posterior);
  Eigen::MatrixXd scaled(n, n);
  for (Eigen::Index a = 0; a < n; ++a) {
    for (Eigen::Index b = 0; b < n; ++b) {
      scaled(a, b) = all(touched[static_cast<std::size_t>(a)], touched[static_cast<std::size_t>(b)]);
    }
  }
  const auto share = [&](Eigen::Index i) { return std::sqrt(std::max(0.0, scaled(i, i))); };
  std::vector<Confounded> pairs;
  for (Eigen::Index a = 0; a < n; ++a) {
    for (Eigen::Index b = a + 1; b < n; ++b) {
      if (share(a) <= identified_share && share(b) <= identified_share) continue;
      const double correlation = scaled(a, b) / (share(a) * share(b));
      if (std::abs(correlation) < min_correlation) continue;
      pairs.push_back(
          {touched[static_cast<std::size_t>(a)], touched[static_cast<std::size_t>(b)], correlation});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Confounded& x, const Confounded& y) {
    return std::abs(x.correlation) > std::abs(y.correlation);
  });
  return pairs;
}

}  // namespace sextant::inline calibrate
