// What AReaL-Hex leaves unsaid, where it contradicts itself, and why figures of ours disagree with it:
// sentences.
#pragma once

#include <string>
#include <vector>

#include "lab/reproduce/reproduction.h"

namespace sextant {

[[nodiscard]] std::vector<std::string> areal_hex_assumptions();
[[nodiscard]] std::vector<std::string> areal_hex_contradictions();
// Each was found by an experiment that the sentence names.
[[nodiscard]] std::vector<Cause> areal_hex_causes();

}  // namespace sextant
