#include "calibrate/import/records/json_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace sextant::inline calibrate {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}
bool is_of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; }

}  // namespace

bool JsonLine::read(std::string_view line) {
  members_.clear();
  nested_.clear();
  rest_ = line;
  if (!take_members(members_, true)) return false;
  skip_spaces();
  return rest_.empty();
}

const JsonLineMember* JsonLine::find(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [name](const JsonLineMember& member) { return member.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

bool JsonLine::take_members(std::vector<JsonLineMember>& out, bool is_outer) {
  if (!take('{')) return false;
  if (take('}')) return true;
  do {
    JsonLineMember member;
    bool has_escapes = false;
    if (!take_text(member.name, has_escapes) || !take(':') || !take_value(member, is_outer)) return false;
    if (!has_escapes) out.push_back(member);
  } while (take(','));
  return take('}');
}

bool JsonLine::take_value(JsonLineMember& member, bool is_outer) {
  skip_spaces();
  if (rest_.empty()) return false;
  const char first = rest_.front();
  if (first == '"') {
    std::string_view text;
    bool has_escapes = false;
    return take_text(text, has_escapes);
  }
  if (first == '{' && is_outer && member.name == nested_name_) {
    member.is_object = true;
    return take_members(nested_, false);
  }
  if (first == '{' || first == '[') {
    member.is_object = first == '{';
    return skip_nested();
  }
  const bool is_word = is_of_word(first) && !(first == '-' && rest_.size() > 1 && is_of_number(rest_[1]));
  if (!is_word) return take_number(member);
  rest_.remove_prefix(
      static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_of_word) - rest_.begin()));
  return true;
}

bool JsonLine::take_number(JsonLineMember& member) {
  const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_of_number);
  const std::string_view text = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), member.number);
  if (text.empty() || last != text.data() + text.size() || error == std::errc::invalid_argument) return false;
  member.is_number = error == std::errc() && std::isfinite(member.number);
  member.is_integer = text.find_first_of(".eE") == std::string_view::npos;
  rest_.remove_prefix(text.size());
  return true;
}

bool JsonLine::take_text(std::string_view& text, bool& has_escapes) {
  if (!take('"')) return false;
  for (std::size_t at = 0; at < rest_.size(); ++at) {
    if (rest_[at] == '\\') {
      has_escapes = true;
      ++at;
    } else if (rest_[at] == '"') {
      text = rest_.substr(0, at);
      rest_.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

// Lists and objects that no one asked for, whatever is in them; their brackets have to match.
bool JsonLine::skip_nested() {
  constexpr std::size_t kDeepest = 64;
  std::string open;
  do {
    const char c = rest_.front();
    if (c == '"') {
      std::string_view text;
      bool has_escapes = false;
      if (!take_text(text, has_escapes)) return false;
      continue;
    }
    if (c == '{' || c == '[') open += c == '{' ? '}' : ']';
    if (c == '}' || c == ']') {
      if (open.back() != c) return false;
      open.pop_back();
    }
    rest_.remove_prefix(1);
  } while (!open.empty() && open.size() <= kDeepest && !rest_.empty());
  return open.empty();
}

bool JsonLine::take(char wanted) {
  skip_spaces();
  if (rest_.empty() || rest_.front() != wanted) return false;
  rest_.remove_prefix(1);
  return true;
}

void JsonLine::skip_spaces() {
  while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
}

}  // namespace sextant::inline calibrate
