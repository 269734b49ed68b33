// Sentences on HetRL: what it leaves unstated, where it contradicts itself, and why our figures disagree.
#pragma once

#include <string>
#include <vector>

#include "lab/reproduce/reproduction.h"

namespace sextant::inline lab {

[[nodiscard]] std::vector<std::string> hetrl_assumptions();
[[nodiscard]] std::vector<std::string> hetrl_contradictions();
// Each cause was found by an experiment that the sentence describes.
[[nodiscard]] std::vector<Cause> hetrl_causes();

[[nodiscard]] std::vector<std::string> hetrl_balance_assumptions();
[[nodiscard]] std::vector<Cause> hetrl_balance_causes();

}  // namespace sextant::inline lab
