// The current value of a number of hardware_numbers.h, and its measurement error.
#pragma once

#include <optional>

#include "costmodel/hardware_numbers.h"

namespace sextant::inline planner {

struct KnownNumber {
  double value = 0;  // the first if several numbers change together
  // Error of the logarithm, the largest of several numbers; absent if none was measured with its spread.
  std::optional<double> standard_error;
};

// The value of a number; a rate of devices is that for `precision`. "memory_bytes" is supported too.
[[nodiscard]] KnownNumber value_of(const Cluster& cluster, const HardwareNumber& number, Precision precision);

}  // namespace sextant::inline planner
