// Exports coefficients in formats that other programs read: plain JSON, CSV, a C++ header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/coefficients.h"

namespace sextant::inline reports {

// {"training_efficiency": {"unit": "1", "*": 0.52, "H100-SXM": 0.55}, ...}: every coefficient of the table,
// resolved for the framework, for all device types and for each that the document distinguishes.
[[nodiscard]] std::string coefficients_as_json(const Coefficients& coefficients, std::string_view framework);

// One line per entry: name, unit, device_type, framework, value, low, high, prior, standard_error, identified,
// at_bound.
[[nodiscard]] std::string coefficients_as_csv(const Coefficients& coefficients);

// Returns a self-contained header: namespace sextant_coefficients, a constexpr double per value and type.
[[nodiscard]] std::string coefficients_as_header(const Coefficients& coefficients, std::string_view framework);

}  // namespace sextant::inline reports
