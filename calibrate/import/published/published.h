// Published iteration times of RL post-training from web pages, papers and issues: data/public/rl.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// JSON: {"schema": "sextant.published.runs/1", "records": [...]}; see published_record.h for its members. A
// record becomes a run if its GPU, models, batch, plan and a time are stated; anything else that it leaves out
// is assumed, with a note. Repetitions of another record's measurement are left out as well.
[[nodiscard]] Imported read_published(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
