#include "calibrate/parameters.h"

#include <algorithm>
#include <set>

namespace sextant {

double Parameter::coordinate(double value) const {
  return spec().scale == CoefficientScale::logarithmic ? std::log(value) : value / spec().prior_deviation;
}

double Parameter::value(double coordinate) const {
  return spec().scale == CoefficientScale::logarithmic ? std::exp(coordinate)
                                                       : coordinate * spec().prior_deviation;
}

double Parameter::prior_deviation() const {
  return spec().scale == CoefficientScale::logarithmic ? spec().prior_deviation : 1.0;
}

double Parameter::lower() const { return coordinate(spec().lower); }

double Parameter::upper() const { return coordinate(spec().upper); }

std::vector<Parameter> free_parameters(const Runs& runs, const std::vector<std::string>& selected,
                                       const Coefficients& start) {
  std::set<std::string> types, frameworks;
  for (const Run& run : runs.runs) {
    if (std::find(selected.begin(), selected.end(), run.name) == selected.end()) continue;
    frameworks.insert(run.framework);
    const Cluster& cluster = runs.cluster_of(run);
    for (const auto& [name, task] : runs.plan_of(run).tasks) {
      for (const DeviceId device : task.devices()) types.insert(cluster.type_name(device));
    }
  }
  if (frameworks.size() <= 1) frameworks = {std::string(kAny)};
  std::vector<Parameter> parameters;
  for (const CoefficientSpec& spec : coefficient_table()) {
    const std::set<std::string> of_types =
        spec.by_device_type ? types : std::set<std::string>{std::string(kAny)};
    for (const std::string& type : of_types) {
      for (const std::string& framework : frameworks) {
        Parameter parameter{spec.id, type, framework, spec.prior};
        const bool known = std::any_of(start.values.begin(), start.values.end(),
                                       [&](const Coefficient& c) { return c.id == spec.id; });
        if (known) parameter.prior = std::clamp(start.value(spec.id, type, framework), spec.lower, spec.upper);
        parameters.push_back(std::move(parameter));
      }
    }
  }
  return parameters;
}

}  // namespace sextant
