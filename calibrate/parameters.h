// The free coefficients of a fit: the map between coefficient values and the fit's vector.
//
// A logarithmic coefficient is moved by its logarithm, a linear one in units of its prior deviation, so that
// every parameter has a prior of comparable width. If runs come from several device types or frameworks the
// coefficient is partially pooled: value = common value * exp(deviation of the type + deviation of the
// framework), with deviations shrunk towards zero as the table states, so that a type with one run borrows from
// the others and an unseen one gets the common value.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "costmodel/problem/coefficient_values.h"
#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant::inline calibrate {

struct Parameter {
  CoefficientId id = CoefficientId::prefill_efficiency;
  std::string device_type{kAny};
  std::string framework{kAny};
  bool is_deviation = false;  // a deviation from the common value, in the logarithm
  double prior = 1;           // a value; for a deviation its logarithm
  double deviation = 1;       // deviation of the prior, in fit coordinates

  [[nodiscard]] const CoefficientSpec& spec() const { return spec_of(id); }
  // Converts a value to its fit coordinate, and back.
  [[nodiscard]] double coordinate(double value) const;
  [[nodiscard]] double value(double coordinate) const;
  [[nodiscard]] double prior_coordinate() const { return is_deviation ? prior : coordinate(prior); }
  [[nodiscard]] double prior_deviation() const { return deviation; }
  [[nodiscard]] double lower() const;  // bounds in fit coordinates
  [[nodiscard]] double upper() const;
};

// Returns common values first, in the order of the table, then deviations. With one device type in the runs its
// value is the common one and carries its name; likewise for one framework. `start` overrides the table's
// priors (with a fit of another cluster, for example): its values are the starting point and the prior means,
// and their standard errors, if any, are the prior deviations. If all runs are of one framework its values in
// `start` are those of this framework.
[[nodiscard]] std::vector<Parameter> free_parameters(const Runs& runs, const std::vector<std::string>& selected,
                                                     const Coefficients& start);

// The position of the parameters in the dense table of one run.
class ParameterMap {
 public:
  // One value of the run's table, for a coefficient and a device type.
  struct Slot {
    CoefficientId id;
    int type;
    int common;                   // position of the parameter
    std::vector<int> deviations;  // positions
  };

  ParameterMap() = default;
  ParameterMap(const std::vector<Parameter>& parameters, const Hardware<double>& hardware,
               std::string_view framework);

  [[nodiscard]] int type_count() const { return type_count_; }
  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }
  // The value of a slot, and its derivatives with respect to the common parameter and to any of its deviations.
  struct Value {
    double value;
    double by_common;
    double by_deviation;
  };
  [[nodiscard]] static Value value(const Slot& slot, const double* coordinates);

 private:
  int type_count_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace sextant::inline calibrate
