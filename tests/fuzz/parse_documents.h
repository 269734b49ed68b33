// The property that is fuzzed, so that a plain program and a fuzzing engine can drive it alike.
#pragma once

#include <string_view>

namespace sextant {

// Reads text as each kind of document in turn. Nothing but Error(bad_input) may come out, and what is accepted
// must be written and read again to the same value; else the program stops. Returns how many kinds accepted the
// text.
int parse_as_every_kind(std::string_view text);

}  // namespace sextant
