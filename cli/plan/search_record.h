// Describes the document of a search in words: how far from the optimum the plan can be.
#pragma once

#include <string>

#include "sextant/search.h"

namespace sextant::cli {

// Returns one line of text, empty without a risk goal.
[[nodiscard]] std::string describe_risk(const SearchRecord& search);

// Returns a table of the parts of a run and a line; empty without parts.
[[nodiscard]] std::string describe_run(const SearchRecord& search);

// Returns a line for each sentence about how the plan stands.
[[nodiscard]] std::string describe_standing(const SearchRecord& search);

// Returns lines: the number of evaluations, the proof, and how far the plan can be from the optimum.
[[nodiscard]] std::string describe(const SearchRecord& search);

}  // namespace sextant::cli
