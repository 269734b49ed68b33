// Suggests a name for a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant::inline ask {

// Returns the name with the fewest changed, added, omitted or swapped letters, ignoring case; at most a third of
// them. Among equally near names it is the one that begins most like `written`. If none is near: the first one that
// begins with `written`, or an empty text.
[[nodiscard]] std::string nearest_name(std::string_view written, std::span<const std::string_view> names);

// Returns "; did you mean NAME?" for the end of a message, or an empty text if no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view written, std::span<const std::string_view> names);
[[nodiscard]] std::string did_you_mean(std::string_view written, std::span<const std::string> names);

}  // namespace sextant::inline ask
