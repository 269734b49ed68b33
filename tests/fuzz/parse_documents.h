// The fuzzed property, which a plain program and a fuzzing engine can both drive.
#pragma once

#include <string_view>

namespace sextant {

// Parses the text as each kind of document in turn. Only Error(bad_input) may be thrown, and an accepted
// document must be the same after writing and reading it; otherwise the program stops. Returns how many kinds
// accepted the text.
int parse_as_every_kind(std::string_view text);

}  // namespace sextant
