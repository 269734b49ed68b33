// Sailor's validation plans and layer profiles (SOSP 2025): data/public/sailor.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// Reads the files of that folder in any order, recognised by their content: plans, layer_times or both, and the
// tables that these need (models, network_curves, gpu_types, layer_sizes).
[[nodiscard]] Imported read_sailor(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
