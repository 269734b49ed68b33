// --what-if CHANGE: the cluster as it might be, as a person writes it.
#pragma once

#include <string>

#include "planner/explain/explain.h"
#include "sextant/cluster.h"

namespace sextant::cli {

// One line for --help.
extern const char* const kWhatIfHelp;
// The grammar, lines for the end of --help.
extern const char* const kWhatIfGrammar;

// Changes parted by commas, made one after the other. Throws Error(bad_input) that begins with "--what-if" and
// what was written, and names what was meant where a name is misspelt.
[[nodiscard]] Scenario parse_what_if(const std::string& written, const Cluster& cluster);

}  // namespace sextant::cli
