// The parser's half of sextant/json.h: nlohmann's lexer and grammar, our own builder, because the
// library's keeps the last of two equal keys without a word and forgets where it was.
#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "core/json_value.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant {
namespace {

constexpr std::size_t kDeepest = 200;

// Walks over the text and leaves behind how far the lexer has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* consumed) : at_(at), consumed_(consumed) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*consumed_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::size_t* consumed_;
};

std::string position_text(std::string_view text, std::size_t consumed) {
  const std::string_view before = text.substr(0, std::min(consumed, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const std::size_t column = std::max<std::size_t>(1, before.size() - line_start);
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: REASON; last read: 'TEXT'; expected ..."
// keeps its reason, what was read (shortened) and what was expected.
std::string reason_of(std::string reason) {
  const auto drop_through = [&reason](std::string_view mark) {
    if (const auto at = reason.find(mark); at != std::string::npos) {
      reason.erase(0, at + mark.size());
    }
  };
  drop_through("] ");
  if (reason.starts_with("parse error")) {
    drop_through(": ");
  }
  constexpr std::string_view kRead = "last read: '";
  const auto start = reason.find(kRead);
  if (start != std::string::npos) {
    const auto begin = start + kRead.size();
    const auto expected = reason.rfind("'; expected ");
    const auto end = expected != std::string::npos && expected >= begin ? expected : reason.size() - 1;
    reason.replace(begin, end - begin, shorten(reason.substr(begin, end - begin), kShownCharacters));
  }
  return valid_utf8(reason);
}

class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder() = default;
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return refuse("binary values are not JSON"); }
  bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    frames_.back().key = name;
    frames_.back().has_key = true;
    return frames_.back().keys.insert(std::move(name)).second || refuse("duplicate key");
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    return refuse(reason_of(error.what()));
  }

  Json take() { return std::move(root_); }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  // The current position in the text, as a JSON Pointer.
  [[nodiscard]] std::string path() const {
    std::string out;
    for (std::size_t depth = 0; depth < frames_.size(); ++depth) {
      const Frame& frame = frames_[depth];
      if (frame.value->is_array()) {
        const bool innermost = depth + 1 == frames_.size();
        out += '/' + std::to_string(frame.value->size() - (innermost ? 0 : 1));
      } else if (frame.has_key) {
        out += '/' + pointer_token(shorten(frame.key, kShownCharacters));
      }
    }
    return out;
  }

 private:
  struct Frame {
    Json* value;  // stays where it is: its parent grows only after it is closed
    std::string key{};
    bool has_key = false;
    std::unordered_set<std::string> keys{};
  };

  bool refuse(std::string reason) {
    refusal_ = std::move(reason);
    return false;
  }

  Json* append(Json&& value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Frame& frame = frames_.back();
    if (frame.value->is_array()) {
      auto& array = frame.value->get_ref<Json::array_t&>();
      return &array.emplace_back(std::move(value));
    }
    // Straight to the vector below: ordered_map's own insertion searches all earlier keys.
    auto& object = frame.value->get_ref<Json::object_t&>();
    return &static_cast<Json::object_t::Container&>(object).emplace_back(frame.key, std::move(value)).second;
  }

  bool add(Json&& value) {
    append(std::move(value));
    return true;
  }

  bool open(Json&& value) {
    if (frames_.size() == kDeepest) {
      return refuse("nested deeper than " + std::to_string(kDeepest));
    }
    frames_.push_back(Frame{append(std::move(value))});
    return true;
  }

  bool close() {
    frames_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Frame> frames_;
  std::string refusal_;
};

}  // namespace

Json parse_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw_bad_input("the text is empty; expected a JSON value");
  }
  std::size_t consumed = 0;
  Builder builder;
  constexpr bool kWhole = true, kIgnoresComments = true;
  const bool good = Json::sax_parse(CountingIterator(text.data(), &consumed),
                                    CountingIterator(text.data() + text.size(), &consumed), &builder,
                                    Json::input_format_t::json, kWhole, kIgnoresComments);
  if (!good) {
    const std::string path = builder.path();
    throw_bad_input((path.empty() ? "" : path + ": ") + builder.refusal() + " (" +
                    position_text(text, consumed) + ")");
  }
  return builder.take();
}

}  // namespace sextant
