// Which coefficients a fit is free to move, and how: the map between coefficient values and the fit's vector.
//
// A logarithmic coefficient is moved by its logarithm, a linear one in units of its prior deviation, so that
// every parameter has a prior of comparable width.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "costmodel/coefficient_values.h"
#include "costmodel/vocabulary/coefficients.h"
#include "costmodel/vocabulary/run.h"

namespace sextant {

struct Parameter {
  CoefficientId id = CoefficientId::prefill_efficiency;
  std::string device_type{kAny};
  std::string framework{kAny};
  double prior = 1;  // value

  [[nodiscard]] const CoefficientSpec& spec() const { return spec_of(id); }
  // Fit coordinate of a value, and back.
  [[nodiscard]] double coordinate(double value) const;
  [[nodiscard]] double value(double coordinate) const;
  [[nodiscard]] double prior_deviation() const;  // in fit coordinates
  [[nodiscard]] double lower() const;            // bounds in fit coordinates
  [[nodiscard]] double upper() const;
};

// One parameter for every coefficient; for those by device type one for each type that the runs use; and
// where the runs come from several frameworks, one for each framework too. `start` overrides the table's
// priors (a fit of another cluster, say).
[[nodiscard]] std::vector<Parameter> free_parameters(const Runs& runs, const std::vector<std::string>& selected,
                                                     const Coefficients& start);

// The dense coefficient table of one run, in terms of the fit's vector; T is double or ceres::Jet.
template <typename T>
[[nodiscard]] CoefficientValues<T> values_from(const std::vector<Parameter>& parameters, const T* coordinates,
                                               const Hardware<T>& hardware, std::string_view framework) {
  using std::exp;
  CoefficientValues<T> values(hardware.type_count());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Parameter& parameter = parameters[p];
    if (parameter.framework != kAny && parameter.framework != framework) continue;
    const T value = parameter.spec().scale == CoefficientScale::logarithmic
                        ? T(exp(coordinates[p]))
                        : T(coordinates[p] * parameter.spec().prior_deviation);
    for (int type = 0; type < hardware.type_count(); ++type) {
      if (parameter.device_type == kAny || parameter.device_type == hardware.type_name(type)) {
        values.set(parameter.id, type, value);
      }
    }
  }
  return values;
}

}  // namespace sextant
