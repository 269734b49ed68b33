// Text that goes into messages and documents.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant::inline core {

// The number of characters of a value that a message shows.
inline constexpr std::size_t kShownCharacters = 60;

// Returns at most `maximum` bytes and, if it was cut, "..." at the end; never cuts inside a UTF-8 character.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t maximum);

// The text in double quotes, shortened to kShownCharacters and printable.
[[nodiscard]] std::string in_quotes(std::string_view text);

// True for text with characters that change what a terminal or a page shows around it: control characters, line
// and paragraph separators, and marks of the writing direction.
[[nodiscard]] bool has_control_characters(std::string_view text);

// The same text with each of these characters as its number: "\\u001b".
[[nodiscard]] std::string printable(std::string_view text);

// The same of each line.
[[nodiscard]] std::string printable_lines(std::string_view text);

// The same text with every byte that is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(const std::string& text);

// A member's name as part of a JSON Pointer: "~" and "/" escaped (RFC 6901), and printable.
[[nodiscard]] std::string pointer_token(std::string_view name);

}  // namespace sextant::inline core
