#include "core/json_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant {
namespace {

std::string located(const std::string& path, const std::string& reason) {
  return path.empty() ? reason : path + ": " + reason;
}

// Shortest text that reads back as the same double.
std::string format_double(double value) {
  if (value == 0 && std::signbit(value)) {
    return "-0.0";  // "-0" would be read as the integer 0
  }
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  return {buffer, end};
}

class Writer {
 public:
  std::string write(const Json& value) {
    append(value, 0);
    out_ += '\n';
    return std::move(out_);
  }

 private:
  void append(const Json& value, std::size_t depth) {
    if (value.is_object()) {
      append_object(value, depth);
    } else if (value.is_array()) {
      append_array(value, depth);
    } else if (value.is_number_float()) {
      const double number = value.get<double>();
      if (!std::isfinite(number)) {
        throw_bad_input(
            located(path_, std::isnan(number) ? "JSON cannot hold NaN" : "JSON cannot hold infinity"));
      }
      out_ += format_double(number);
    } else if (value.is_string()) {
      append_text(value.get_ref<const std::string&>());
    } else {
      out_ += value.dump();
    }
  }

  void append_text(const std::string& text) {
    try {
      out_ += Json(text).dump();
    } catch (const Json::exception&) {
      throw_bad_input(located(path_, "the text is not valid UTF-8"));
    }
  }

  void append_object(const Json& value, std::size_t depth) {
    out_ += '{';
    bool first = true;
    for (const auto& [key, item] : value.items()) {
      new_line(first, depth + 1);
      append_text(key);
      out_ += ": ";
      append_child(pointer_token(key), item, depth + 1);
      first = false;
    }
    if (!first) {
      out_ += '\n' + std::string(2 * depth, ' ');
    }
    out_ += '}';
  }

  // Arrays of plain values stay on one line: samples and device lists would be a line each.
  void append_array(const Json& value, std::size_t depth) {
    const bool plain =
        std::none_of(value.begin(), value.end(), [](const Json& item) { return item.is_structured(); });
    out_ += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (plain) {
        out_ += i == 0 ? "" : ", ";
      } else {
        new_line(i == 0, depth + 1);
      }
      append_child(std::to_string(i), value[i], depth + 1);
    }
    if (!plain) {
      out_ += '\n' + std::string(2 * depth, ' ');
    }
    out_ += ']';
  }

  void new_line(bool first, std::size_t depth) {
    out_ += first ? "\n" : ",\n";
    out_.append(2 * depth, ' ');
  }

  void append_child(const std::string& token, const Json& value, std::size_t depth) {
    const std::size_t length = path_.size();
    path_ += '/' + token;
    append(value, depth);
    path_.resize(length);
  }

  std::string out_;
  std::string path_;
};

std::string range_text(std::int64_t minimum, std::int64_t maximum) {
  using limits = std::numeric_limits<std::int64_t>;
  if (minimum == limits::min() && maximum == limits::max()) {
    return "";
  }
  if (maximum == limits::max()) {
    return " >= " + std::to_string(minimum);
  }
  if (minimum == limits::min()) {
    return " <= " + std::to_string(maximum);
  }
  return " from " + std::to_string(minimum) + " to " + std::to_string(maximum);
}

template <typename Names>
std::string joined(const Names& names) {
  std::string out;
  for (const auto& name : names) {
    out += (out.empty() ? "" : ", ") + std::string(name);
  }
  return out;
}

}  // namespace

std::string format_json(const Json& value) { return Writer().write(value); }

void JsonView::fail(const std::string& reason) const { throw_bad_input(located(path_, reason)); }

std::string JsonView::shown() const {
  if (value_->is_object()) {
    return "an object";
  }
  if (value_->is_array()) {
    return "an array of " + std::to_string(value_->size());
  }
  if (value_->is_number_float()) {
    return format_double(value_->get<double>());
  }
  return shorten(value_->dump(-1, ' ', false, Json::error_handler_t::replace), kShownCharacters);
}

JsonView JsonView::child(std::string_view token, const Json& value) const {
  return JsonView(value, path_ + '/' + pointer_token(token));
}

void JsonView::expect_object() const {
  if (!value_->is_object()) {
    fail("expected an object, got " + shown());
  }
}

void JsonView::allow_only(const std::vector<std::string_view>& keys) const {
  expect_object();
  for (const auto& [key, item] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      child(shorten(key, kShownCharacters), item).fail("unknown member; known ones are " + joined(keys));
    }
  }
}

JsonView JsonView::required(std::string_view key) const {
  const std::optional<JsonView> member = optional(key);
  if (!member) {
    fail("missing member \"" + std::string(key) + "\"");
  }
  return *member;
}

std::optional<JsonView> JsonView::optional(std::string_view key) const {
  expect_object();
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) {
    return std::nullopt;
  }
  return child(key, *found);
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  expect_object();
  std::vector<std::pair<std::string, JsonView>> out;
  out.reserve(value_->size());
  for (const auto& [key, item] : value_->items()) {
    if (has_control_characters(key)) fail("expected names without control characters, got " + in_quotes(key));
    out.emplace_back(key, child(key, item));
  }
  return out;
}

std::vector<JsonView> JsonView::items() const {
  if (!value_->is_array()) {
    fail("expected an array, got " + shown());
  }
  std::vector<JsonView> out;
  out.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    out.push_back(child(std::to_string(i), (*value_)[i]));
  }
  return out;
}

std::vector<double> JsonView::numbers() const {
  std::vector<double> out;
  for (const JsonView& item : items()) {
    out.push_back(item.number());
  }
  return out;
}

double JsonView::number() const {
  if (!value_->is_number()) {
    fail("expected a number, got " + shown());
  }
  const double number = value_->get<double>();
  if (!std::isfinite(number)) {
    fail("expected a finite number, got " + shown());
  }
  return number;
}

namespace {

// No quantity of a cluster or a workflow is beyond these, and products of a dozen of them are still numbers.
constexpr double kSmallest = 1e-24, kLargest = 1e24;

}  // namespace

double JsonView::positive() const {
  const double value = number();
  if (!(value > 0)) {
    fail("expected a number > 0, got " + shown());
  }
  if (value < kSmallest || value > kLargest) {
    fail("expected a number from 1e-24 to 1e24, got " + shown());
  }
  return value;
}

double JsonView::non_negative() const {
  const double value = number();
  if (!(value >= 0)) {
    fail("expected a number >= 0, got " + shown());
  }
  if (value > kLargest) {
    fail("expected a number of at most 1e24, got " + shown());
  }
  return value;
}

double JsonView::fraction() const {
  const double value = number();
  if (!(value >= 0 && value <= 1)) {
    fail("expected a number from 0 to 1, got " + shown());
  }
  return value;
}

std::int64_t JsonView::integer(std::int64_t minimum, std::int64_t maximum) const {
  const bool too_large =
      value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (value_->is_number_integer() && !too_large) {
    const auto value = value_->get<std::int64_t>();
    if (value >= minimum && value <= maximum) {
      return value;
    }
  }
  fail("expected an integer" + range_text(minimum, maximum) + ", got " + shown());
}

int JsonView::count(int minimum) const {
  if (integer(minimum) > std::numeric_limits<int>::max()) {
    return static_cast<int>(integer(minimum, std::numeric_limits<int>::max()));  // throws with the upper limit
  }
  return static_cast<int>(value_->get<std::int64_t>());
}

std::string JsonView::text() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) {
    fail("expected a string that is not empty, got " + shown());
  }
  const auto& text = value_->get_ref<const std::string&>();
  if (has_control_characters(text)) fail("expected text without control characters, got " + shown());
  return text;
}

std::string JsonView::any_text() const {
  if (!value_->is_string()) {
    fail("expected a string, got " + shown());
  }
  return value_->get<std::string>();
}

bool JsonView::flag() const {
  if (!value_->is_boolean()) {
    fail("expected true or false, got " + shown());
  }
  return value_->get<bool>();
}

std::size_t JsonView::one_of(const std::vector<std::string_view>& names) const {
  if (value_->is_string()) {
    const auto found = std::find(names.begin(), names.end(), value_->get_ref<const std::string&>());
    if (found != names.end()) {
      return static_cast<std::size_t>(found - names.begin());
    }
  }
  fail("expected one of " + joined(names) + ", got " + shown());
}

}  // namespace sextant
