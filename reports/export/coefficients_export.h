// Coefficients in forms that other programs read: plain JSON, CSV, a C++ header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/coefficients.h"

namespace sextant {

// {"training_efficiency": {"unit": "1", "*": 0.52, "H100-SXM": 0.55}, ...}: every coefficient of the table,
// resolved for the framework, for all device types and for each that the document tells apart.
[[nodiscard]] std::string coefficients_as_json(const Coefficients& coefficients, std::string_view framework);

// One line an entry: name, unit, device_type, framework, value, low, high, prior, standard_error, identified,
// at_bound.
[[nodiscard]] std::string coefficients_as_csv(const Coefficients& coefficients);

// A self-contained header: namespace sextant_coefficients, a constexpr double a coefficient and device type.
[[nodiscard]] std::string coefficients_as_header(const Coefficients& coefficients, std::string_view framework);

}  // namespace sextant
