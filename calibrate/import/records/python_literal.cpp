#include "calibrate/import/records/python_literal.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "core/json_value.h"
#include "core/text.h"

namespace sextant::inline calibrate {
namespace {

constexpr int kDeepest = 64;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Json> read_value(int depth) {
    skip_spaces();
    if (depth > kDeepest || at_ >= text_.size()) return std::nullopt;
    const char c = text_[at_];
    if (c == '{') return read_dictionary(depth);
    if (c == '[') return read_sequence(']', depth);
    if (c == '(') return read_sequence(')', depth);
    if (c == '\'' || c == '"') return read_strings();
    return read_word();
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool take(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  std::optional<Json> read_dictionary(int depth) {
    ++at_;
    Json out = Json::object();
    while (!take('}')) {
      const std::optional<Json> key = read_value(depth + 1);
      if (!key || !key->is_string() || !take(':')) return std::nullopt;
      std::optional<Json> value = read_value(depth + 1);
      if (!value) return std::nullopt;
      out[key->get<std::string>()] = std::move(*value);
      if (take('}')) break;
      if (!take(',')) return std::nullopt;
    }
    return out;
  }

  std::optional<Json> read_sequence(char close, int depth) {
    ++at_;
    Json out = Json::array();
    while (!take(close)) {
      std::optional<Json> value = read_value(depth + 1);
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
      if (take(close)) break;
      if (!take(',')) return std::nullopt;
    }
    return out;
  }

  std::optional<Json> read_strings() {
    std::string whole;
    do {
      if (!read_string(whole)) return std::nullopt;
      skip_spaces();
    } while (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"'));
    return Json(valid_utf8(whole));
  }

  bool read_string(std::string& out) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;  // what it stands for is of no use here
      out += text_[at_++];
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  std::optional<Json> read_word() {
    const std::size_t from = at_;
    constexpr std::string_view kEnds = ",:]}) \t\r\n";
    while (at_ < text_.size() && kEnds.find(text_[at_]) == std::string_view::npos) ++at_;
    const std::string_view word = text_.substr(from, at_ - from);
    if (word == "True") return Json(true);
    if (word == "False") return Json(false);
    if (word == "None" || word == "nan" || word == "inf" || word == "-inf") return Json(nullptr);
    return read_number(word);
  }

  static std::optional<Json> read_number(std::string_view word) {
    const char* const end = word.data() + word.size();
    std::int64_t whole = 0;
    if (const auto [last, error] = std::from_chars(word.data(), end, whole);
        error == std::errc() && last == end) {
      return Json(whole);
    }
    double value = 0;
    const auto [last, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || last != end || !std::isfinite(value)) return std::nullopt;
    return Json(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Json> parse_python_literal(std::string_view text) { return Reader(text).read_value(0); }

}  // namespace sextant::inline calibrate
