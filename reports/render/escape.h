// Escapes texts from documents for their place in the output, because names may hold any characters.
#pragma once

#include <string>
#include <string_view>

#include "sextant/json.h"

namespace sextant::inline reports {

// Escapes for element content and quoted attributes: & < > " ' become entities.
[[nodiscard]] std::string escape_html(std::string_view text);

// Escapes for a Markdown table cell or sentence: markup characters get a backslash, line breaks become spaces.
[[nodiscard]] std::string escape_markdown(std::string_view text);

// Returns JSON for use inside a <script> element: '<' is written \u003c, so neither </script> nor <!-- can
// occur. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string script_json(const Json& value);

}  // namespace sextant::inline reports
