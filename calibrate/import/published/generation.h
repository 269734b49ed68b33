// Published prefill and decode measurements from documentation of engines and models: data/public/generation.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// JSON: {"schema": "sextant.published.generation/1", "records": [...]}, one record per row of a published
// table: static batches, single sequences, first-token times (a response of one token), and offline tables that
// give an engine all requests at once, which are then the batch.
[[nodiscard]] Imported read_generation(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
