// Training steps of many public sources in one JSON file: data/public/training.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// "records" of the schema sextant.published.training/1, one run per record. The first word of a record's id
// says how its source names its knobs (training_sources.h).
[[nodiscard]] Imported read_training(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
