// What a number of hardware_numbers.h is now, and how well it was measured.
#pragma once

#include <optional>

#include "costmodel/hardware_numbers.h"

namespace sextant {

struct KnownNumber {
  double value = 0;  // where several numbers change together the first
  // Of its logarithm, the largest where there are several: absent where none was measured with its spread.
  std::optional<double> standard_error;
};

// A rate of devices is that of `precision`. "memory_bytes" is known too.
[[nodiscard]] KnownNumber value_of(const Cluster& cluster, const HardwareNumber& number, Precision precision);

}  // namespace sextant
