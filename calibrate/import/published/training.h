// Training steps of many public sources in one JSON file: data/public/training.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// "records" of the schema sextant.published.training/1, a record a run. What a source calls its knobs is told
// by the first word of a record's id (training_sources.h).
[[nodiscard]] Imported read_training(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
