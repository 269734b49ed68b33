// Suggests a name for a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant {

// Returns the name with the fewest changed, added or omitted letters, ignoring case; at most a third of them.
// Or the first one that begins with `written`. Empty: no name is near.
[[nodiscard]] std::string nearest_name(std::string_view written, std::span<const std::string_view> names);

}  // namespace sextant
