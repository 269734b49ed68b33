#include "calibrate/posterior.h"

#include <algorithm>
#include <set>

#include "calibrate/gradient.h"

namespace sextant {
namespace {

// Owners of a pooled coefficient that have no deviation of their own: its variance joins with that of the
// common value. By coefficient.
double unseen_variance(const std::vector<Parameter>& parameters, CoefficientId id, const PreparedRun& run,
                       const std::set<std::string>& types) {
  const CoefficientSpec& spec = spec_of(id);
  bool knows_framework = false, tells_frameworks = false, tells_types = false;
  std::set<std::string> known_types;
  for (const Parameter& parameter : parameters) {
    if (parameter.id != id) continue;
    if (!parameter.is_deviation && parameter.device_type != kAny) known_types.insert(parameter.device_type);
    if (!parameter.is_deviation) continue;
    if (parameter.framework != kAny) {
      tells_frameworks = true;
      knows_framework = knows_framework || parameter.framework == run.run().framework;
    } else {
      tells_types = true;
      known_types.insert(parameter.device_type);
    }
  }
  double variance = 0;
  if (spec.by_framework() && tells_frameworks && !knows_framework) {
    variance += spec.framework_deviation * spec.framework_deviation;
  }
  const bool new_type =
      std::any_of(types.begin(), types.end(), [&](const auto& type) { return !known_types.contains(type); });
  if (spec.by_device_type() && (tells_types || !known_types.empty()) && new_type) {
    variance += spec.type_deviation * spec.type_deviation;
  }
  return variance;
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

}  // namespace

std::vector<double> Posterior::log_variances(const PreparedRun& run) const {
  RunGradient gradient(run, parameters);
  gradient.find_relevant(coordinates.data());
  RunGradient::Result result;
  gradient.evaluate(coordinates.data(), result);
  const std::vector<int>& columns = gradient.columns();
  const std::set<std::string> types = types_of(run);
  std::vector<int> place(columns.size(), -1);  // in `free`
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto found = std::lower_bound(free.begin(), free.end(), columns[c]);
    if (found != free.end() && *found == columns[c]) place[c] = static_cast<int>(found - free.begin());
  }
  std::vector<double> unseen(columns.size(), 0.0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Parameter& parameter = parameters[static_cast<std::size_t>(columns[c])];
    if (!parameter.is_deviation) unseen[c] = unseen_variance(parameters, parameter.id, run, types);
  }
  std::vector<double> variances;
  const std::size_t n = free.size();
  for (std::size_t t = 0; t < result.predicted.size(); ++t) {
    double variance = 0;
    for (std::size_t a = 0; a < columns.size(); ++a) {
      const Parameter& parameter = parameters[static_cast<std::size_t>(columns[a])];
      const double by_a = result.by_parameter[t][a] / result.predicted[t];
      // Of a common value in its own coordinate; its logarithm's for the owners that are new.
      const double coordinate = coordinates[static_cast<std::size_t>(columns[a])];
      const bool logarithmic = parameter.spec().scale == CoefficientScale::logarithmic;
      const double by_log = logarithmic ? by_a : by_a * coordinate;
      variance += unseen[a] * by_log * by_log;
      if (place[a] < 0) {
        variance += by_a * by_a * parameter.prior_deviation() * parameter.prior_deviation();
        continue;
      }
      for (std::size_t b = 0; b < columns.size(); ++b) {
        if (place[b] < 0) continue;
        const double by_b = result.by_parameter[t][b] / result.predicted[t];
        variance += by_a * by_b *
                    covariance[static_cast<std::size_t>(place[a]) * n + static_cast<std::size_t>(place[b])];
      }
    }
    variances.push_back(std::max(0.0, variance));
  }
  return variances;
}

}  // namespace sextant
