// Parses literals that Python programs print into their logs, without running anything.
#pragma once

#include <optional>
#include <string_view>

#include "core/json_value.h"

namespace sextant::inline calibrate {

// Parses strings (adjacent ones are one), numbers, True, False, None, lists, tuples and dictionaries with
// strings as keys, from the beginning of the text to the end of the literal; inf and nan become null. Returns
// nullopt if the text does not begin with such a literal, does not close it or nests deeper than 64.
[[nodiscard]] std::optional<Json> parse_python_literal(std::string_view text);

}  // namespace sextant::inline calibrate
