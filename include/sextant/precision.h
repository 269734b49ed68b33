// Number formats of weights, activations and arithmetic.
#pragma once

#include <string_view>

#include "sextant/json.h"

namespace sextant {

enum class Precision { fp64, fp32, tf32, bf16, fp16, fp8, fp4 };

inline constexpr int kPrecisionCount = 7;

[[nodiscard]] double bytes_per_element(Precision precision);  // tf32 is stored in 4 bytes
[[nodiscard]] std::string_view name_of(Precision precision);
[[nodiscard]] Precision parse_precision(const JsonView& view);

}  // namespace sextant
