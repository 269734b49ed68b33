// --what-if CHANGE: a hypothetical cluster, as a person writes it.
#pragma once

#include <string>

#include "planner/explain/explain.h"
#include "sextant/cluster.h"

namespace sextant::cli {

// One line for --help.
extern const char* const kWhatIfHelp;
// The grammar, lines for the end of --help.
extern const char* const kWhatIfGrammar;

// Parses changes separated by commas, applied in order. Throws Error(bad_input) that begins with "--what-if"
// and the given text, and suggests a name if one is misspelt.
[[nodiscard]] Scenario parse_what_if(const std::string& written, const Cluster& cluster);

}  // namespace sextant::cli
