#include "calibrate/parameters.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace sextant::inline calibrate {
namespace {

struct Owners {
  std::set<std::string> types, frameworks;
  bool only_cpus = true;
};

Owners owners_in(const Runs& runs, const std::vector<std::string>& selected) {
  const std::set<std::string> wanted(selected.begin(), selected.end());
  Owners owners;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Run& run : runs.runs) {
    if (!wanted.contains(run.name)) continue;
    owners.frameworks.insert(run.framework);
    if (!seen.emplace(run.cluster, run.plan).second) continue;
    const Cluster& cluster = runs.cluster_of(run);
    for (const auto& [name, task] : runs.plan_of(run).tasks) {
      for (const Replica& replica : task.replicas) {
        for (const Stage& stage : replica.stages) {
          for (const DeviceId device : stage.devices) {
            if (!owners.types.insert(cluster.type_name(device)).second) continue;
            owners.only_cpus = owners.only_cpus && cluster.type_of(device).kind == DeviceKind::cpu;
          }
        }
      }
    }
  }
  return owners;
}

bool has_entry(const Coefficients& coefficients, CoefficientId id) {
  return std::any_of(coefficients.values.begin(), coefficients.values.end(),
                     [id](const Coefficient& c) { return c.id == id; });
}

// The error with which an earlier fit knew a value, as the width of the prior in fit coordinates.
std::optional<double> known_deviation(const CoefficientSpec& spec, const std::string& type,
                                      const std::string& framework, const Coefficients& start) {
  constexpr double kMinimum = 1e-6;
  for (const Coefficient& entry : start.values) {
    if (entry.id != spec.id || entry.device_type != type || entry.framework != framework) continue;
    if (!entry.standard_error) return std::nullopt;
    const bool logarithmic = spec.scale == CoefficientScale::logarithmic;
    return std::max(kMinimum,
                    logarithmic ? *entry.standard_error : *entry.standard_error / spec.prior_deviation);
  }
  return std::nullopt;
}

// framework: the only one of the runs, or any.
Parameter common(const CoefficientSpec& spec, const std::string& type, bool only_cpus,
                 const std::string& framework, const Coefficients& start) {
  const double prior = only_cpus ? prior_on_cpu(spec.id) : spec.prior;
  Parameter parameter{spec.id, type, std::string(kAny), false, prior, 1.0};
  if (spec.scale == CoefficientScale::logarithmic) {
    // One framework's own value is as far from the prior as that of all and its own deviation together.
    parameter.deviation = std::hypot(spec.prior_deviation, framework != kAny ? spec.framework_deviation : 0.0);
  }
  if (!has_entry(start, spec.id)) return parameter;
  parameter.prior = std::clamp(start.value(spec.id, type, framework), spec.lower, spec.upper);
  const std::string any(kAny);
  for (const auto& [own_type, own_framework] :
       {std::pair(type, framework), std::pair(any, framework), std::pair(type, any), std::pair(any, any)}) {
    if (const auto known = known_deviation(spec, own_type, own_framework, start)) {
      parameter.deviation = *known;
      break;
    }
  }
  return parameter;
}

Parameter deviation(const CoefficientSpec& spec, const std::string& type, const std::string& framework,
                    const Coefficients& start) {
  Parameter parameter{spec.id, type, framework,
                      true,    0.0,  framework == kAny ? spec.type_deviation : spec.framework_deviation};
  const double all = start.value(spec.id), own = start.value(spec.id, type, framework);
  if (has_entry(start, spec.id) && all > 0 && own > 0) parameter.prior = std::log(own / all);
  return parameter;
}

}  // namespace

double Parameter::coordinate(double value) const {
  if (spec().scale == CoefficientScale::linear) return value / spec().prior_deviation;
  return std::log(std::max(value, spec().lower));
}

double Parameter::value(double coordinate) const {
  return spec().scale == CoefficientScale::logarithmic ? std::exp(coordinate)
                                                       : coordinate * spec().prior_deviation;
}

double Parameter::lower() const {
  constexpr double kLargestDeviation = 3;  // a factor of 20
  return is_deviation ? -kLargestDeviation : coordinate(spec().lower);
}

double Parameter::upper() const { return is_deviation ? -lower() : coordinate(spec().upper); }

std::vector<Parameter> free_parameters(const Runs& runs, const std::vector<std::string>& selected,
                                       const Coefficients& start) {
  const Owners owners = owners_in(runs, selected);
  std::vector<Parameter> parameters;
  const bool one_type = owners.types.size() == 1;
  const std::string only_framework =
      owners.frameworks.size() == 1 ? *owners.frameworks.begin() : std::string(kAny);
  for (const CoefficientSpec& spec : coefficient_table()) {
    const bool named = one_type && spec.by_device_type();
    parameters.push_back(common(spec, named ? *owners.types.begin() : std::string(kAny), owners.only_cpus,
                                only_framework, start));
  }
  for (const CoefficientSpec& spec : coefficient_table()) {
    if (spec.by_device_type() && !one_type) {
      for (const std::string& type : owners.types) {
        parameters.push_back(deviation(spec, type, std::string(kAny), start));
      }
    }
    if (spec.by_framework() && owners.frameworks.size() > 1) {
      for (const std::string& framework : owners.frameworks) {
        parameters.push_back(deviation(spec, std::string(kAny), framework, start));
      }
    }
  }
  return parameters;
}

ParameterMap::ParameterMap(const std::vector<Parameter>& parameters, const Hardware<double>& hardware,
                           std::string_view framework)
    : type_count_(hardware.type_count()) {
  std::array<std::vector<int>, kCoefficientCount> deviations;  // by coefficient, for all device types alike
  std::vector<std::array<std::vector<int>, kCoefficientCount>> of_type(static_cast<std::size_t>(type_count_));
  for (std::size_t d = 0; d < parameters.size(); ++d) {
    const Parameter& parameter = parameters[d];
    if (!parameter.is_deviation) continue;
    if (parameter.framework != kAny && parameter.framework != framework) continue;
    const auto id = static_cast<std::size_t>(parameter.id);
    if (parameter.device_type == kAny) deviations[id].push_back(static_cast<int>(d));
    for (std::size_t type = 0; type < of_type.size(); ++type) {
      if (parameter.device_type == hardware.type_name(static_cast<int>(type))) {
        of_type[type][id].push_back(static_cast<int>(d));
      }
    }
  }
  for (int type = 0; type < type_count_; ++type) {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const Parameter& parameter = parameters[p];
      if (parameter.is_deviation) continue;
      const auto id = static_cast<std::size_t>(parameter.id);
      Slot slot{parameter.id, type, static_cast<int>(p), of_type[static_cast<std::size_t>(type)][id]};
      slot.deviations.insert(slot.deviations.end(), deviations[id].begin(), deviations[id].end());
      slots_.push_back(std::move(slot));
    }
  }
}

ParameterMap::Value ParameterMap::value(const Slot& slot, const double* coordinates) {
  const CoefficientSpec& spec = spec_of(slot.id);
  const double common = coordinates[slot.common];
  double deviation = 0;
  for (const int d : slot.deviations) deviation += coordinates[d];
  if (spec.scale == CoefficientScale::logarithmic) {
    const double value = std::exp(common + deviation);
    return {value, value, value};
  }
  const double factor = spec.prior_deviation * std::exp(deviation);
  return {common * factor, factor, common * factor};
}

}  // namespace sextant::inline calibrate
