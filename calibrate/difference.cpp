#include "calibrate/difference.h"

#include <cmath>
#include <set>
#include <tuple>

namespace sextant::inline calibrate {
namespace {

using Owner = std::tuple<CoefficientId, std::string, std::string>;  // device type, framework

// The standard error of the entry for this owner, otherwise of the entry for all.
std::optional<double> error_of(const Coefficients& coefficients, const Owner& owner) {
  std::optional<double> of_all;
  for (const Coefficient& entry : coefficients.values) {
    if (entry.id != std::get<0>(owner)) continue;
    const bool same = entry.device_type == std::get<1>(owner) && entry.framework == std::get<2>(owner);
    if (same) return entry.standard_error;
    if (entry.device_type == kAny && entry.framework == kAny) of_all = entry.standard_error;
  }
  return of_all;
}

std::optional<double> deviations(const CoefficientSpec& spec, double before, double after,
                                 std::optional<double> of_before, std::optional<double> of_after) {
  if (!of_before || !of_after) return std::nullopt;
  const double error = std::hypot(*of_before, *of_after);
  const bool logarithmic = spec.scale == CoefficientScale::logarithmic;
  if (error <= 0 || (logarithmic && (before <= 0 || after <= 0))) return std::nullopt;
  return (logarithmic ? std::log(after / before) : after - before) / error;
}

}  // namespace

std::vector<CoefficientDifference> differences(const Coefficients& before, const Coefficients& after) {
  std::set<Owner> owners;
  for (const Coefficients* side : {&before, &after}) {
    for (const Coefficient& entry : side->values) owners.emplace(entry.id, entry.device_type, entry.framework);
  }
  std::vector<CoefficientDifference> all;
  for (const Owner& owner : owners) {
    const auto& [id, device_type, framework] = owner;
    const double was = before.value(id, device_type, framework), is = after.value(id, device_type, framework);
    if (was == is) continue;
    all.push_back({id, device_type, framework, was, is,
                   deviations(spec_of(id), was, is, error_of(before, owner), error_of(after, owner))});
  }
  return all;
}

}  // namespace sextant::inline calibrate
