// Texts from documents made harmless where they are put: names may hold anything.
#pragma once

#include <string>
#include <string_view>

#include "sextant/json.h"

namespace sextant {

// For element content and quoted attributes: & < > " ' become entities.
[[nodiscard]] std::string escape_html(std::string_view text);

// For a Markdown table cell or sentence: what could start markup gets a backslash, line breaks become spaces.
[[nodiscard]] std::string escape_markdown(std::string_view text);

// JSON that may stand inside a <script> element: '<' is written \u003c, so neither </script> nor <!-- can
// occur. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string script_json(const Json& value);

}  // namespace sextant
