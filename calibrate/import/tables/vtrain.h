// vTrain's tables of GPT training iterations on A100 (MICRO 2024): data/public/vtrain.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// CSV, a row a run. Runs of several nodes recompute everything, as the authors' configuration files say; for
// one node they say the same, but the times do not bear it out, so there it is unstated.
[[nodiscard]] Imported read_vtrain(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
