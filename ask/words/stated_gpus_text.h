// The GPUs of a log in words: "H100" or "2x8xH100".
#pragma once

#include <filesystem>
#include <string>

#include "calibrate/import/records/facts.h"
#include "calibrate/import/records/stated_gpus.h"

namespace sextant::inline ask {

// A name alone leaves the number to the log. Throws Error(bad_input) as cluster_from_text does, and for GPUs of
// several types.
[[nodiscard]] StatedGpus stated_gpus_from_text(const std::string& text, const Facts& facts,
                                               const std::filesystem::path& data);

}  // namespace sextant::inline ask
