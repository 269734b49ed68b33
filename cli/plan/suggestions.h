// Suggested runs as text and as experiments for the proxy.
#pragma once

#include <string>
#include <vector>

#include "calibrate/suggest.h"
#include "documents/experiments.h"

namespace sextant::cli {

// Returns one row per run, best first, and below the rows the layouts that they refer to, each once.
[[nodiscard]] std::string describe_suggestions(const std::vector<Suggestion>& suggestions);

[[nodiscard]] Experiments experiments_of(const std::vector<Suggestion>& suggestions);

}  // namespace sextant::cli
