// What a misspelt name was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant::cli {

// The name that takes the fewest changed, added or left out letters, case apart; at most a third of them. Or
// the first that begins with what was written. Empty: none is near.
[[nodiscard]] std::string nearest_name(std::string_view written, std::span<const std::string_view> names);

}  // namespace sextant::cli
