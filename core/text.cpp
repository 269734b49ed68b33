#include "core/text.h"

#include "core/json_value.h"

namespace sextant {

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

std::string in_quotes(std::string_view text) { return '"' + shorten(text, kShownCharacters) + '"'; }

std::string valid_utf8(const std::string& text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string pointer_token(std::string_view name) {
  std::string out;
  for (const char c : name) {
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

}  // namespace sextant
