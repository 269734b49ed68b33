// Literals that Python programs print into their logs, read without running anything.
#pragma once

#include <optional>
#include <string_view>

#include "core/json_value.h"

namespace sextant {

// Strings (adjacent ones are one), numbers, True, False, None, lists, tuples and dictionaries with strings as
// keys, from the beginning of the text to where the literal closes; inf and nan become null. Nothing where the
// text does not begin with such a literal, does not close it or nests deeper than 64.
[[nodiscard]] std::optional<Json> parse_python_literal(std::string_view text);

}  // namespace sextant
