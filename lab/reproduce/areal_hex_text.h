// Sentences on AReaL-Hex: what it leaves unstated, where it contradicts itself, and why our figures disagree
// with it.
#pragma once

#include <string>
#include <vector>

#include "lab/reproduce/reproduction.h"

namespace sextant::inline lab {

[[nodiscard]] std::vector<std::string> areal_hex_assumptions();
[[nodiscard]] std::vector<std::string> areal_hex_contradictions();
// Each cause was found by an experiment that the sentence describes.
[[nodiscard]] std::vector<Cause> areal_hex_causes();

}  // namespace sextant::inline lab
