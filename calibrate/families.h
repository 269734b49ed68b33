// Families of frameworks. The coefficients of a family are fitted together and ship in one document.
#pragma once

#include <string_view>

namespace sextant::inline calibrate {

inline constexpr std::string_view kAnyFamily = "any";

// "verl" for "verl-fsdp", "megatron" for "megatron-bridge", ...; kAnyFamily if no public run is of the
// framework.
[[nodiscard]] std::string_view family_of_framework(std::string_view framework);

}  // namespace sextant::inline calibrate
