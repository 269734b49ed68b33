// End-to-end serving points with which NVIDIA's aiconfigurator validates itself: data/public/aiconfigurator.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// CSV, one row per closed loop of `concurrency` requests in flight. The columns launched_*, cache_precision,
// prefill_tokens, *_tokens_mean and speculative_decoding, which the benchmark's own scripts fill, may be
// missing.
[[nodiscard]] Imported read_aiconfigurator(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
