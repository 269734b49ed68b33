// vLLM servers under a constant request rate, measured to judge the simulator BLIS: data/public/blis.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// CSV, one row per load stage. By Little's law a request rate r and a mean time e2e in the server mean r x e2e
// requests in flight: a batch of that many sequences, which takes e2e.
[[nodiscard]] Imported read_blis(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
