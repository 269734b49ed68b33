// Iterations of RL post-training as pages, papers and issues print them: data/public/rl.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// JSON: {"schema": "sextant.published.runs/1", "records": [...]}; see published_record.h for its members. A
// record becomes a run where its GPU, models, batch, plan and a time are stated; what else it leaves unsaid is
// assumed, with a note. Left out as well are repetitions of another record's measurement.
[[nodiscard]] Imported read_published(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
