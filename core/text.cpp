#include "core/text.h"

#include <algorithm>

#include "core/json_value.h"

namespace sextant::inline core {

std::string shorten(std::string_view text, std::size_t maximum) {
  if (text.size() <= maximum) {
    return std::string(text);
  }
  std::size_t length = maximum;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  return std::string(text.substr(0, length)) + "...";
}

namespace {

// A control character at this place: its number and its length in bytes; a length of zero if there is none.
struct ControlCharacter {
  unsigned number = 0;
  std::size_t length = 0;
};

ControlCharacter control_character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  constexpr unsigned kDelete = 0x7F;
  if (byte(0) < 0x20 || byte(0) == kDelete) return {byte(0), 1};
  // U+0080 to U+009F
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return {byte(1), 2};
  // U+2028 to U+202E and U+2066 to U+2069
  const bool is_separator = byte(0) == 0xE2 && byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE;
  const bool is_isolate = byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  if (is_separator || is_isolate) return {0x2000U + ((byte(1) & 0x3FU) << 6U) + (byte(2) & 0x3FU), 3};
  return {};
}

}  // namespace

bool has_control_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (control_character_at(text, at).length > 0) return true;
  }
  return false;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const ControlCharacter control = control_character_at(text, at);
    if (control.length == 0) {
      out += text[at++];
      continue;
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\\u";
    for (unsigned shift = 16; shift > 0; shift -= 4) out += kDigits[(control.number >> (shift - 4)) & 0xFU];
    at += control.length;
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += (at > 0 ? "\n" : "") + printable(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string in_quotes(std::string_view text) { return '"' + printable(shorten(text, kShownCharacters)) + '"'; }

std::string valid_utf8(const std::string& text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string pointer_token(std::string_view name) {
  std::string out;
  for (const char c : printable(name)) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace sextant::inline core
