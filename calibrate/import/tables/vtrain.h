// vTrain's tables of GPT training iterations on A100 (MICRO 2024): data/public/vtrain.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// CSV, one row per run. Runs of several nodes recompute everything, as the authors' configuration files state;
// for one node the files state the same, but the times contradict it, so it is unstated there.
[[nodiscard]] Imported read_vtrain(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
