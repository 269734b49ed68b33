#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "calibrate/import/records/python_literal.h"
#include "calibrate/import/verl/driver_dialect.h"
#include "sextant/error.h"

namespace sextant {
namespace {

std::optional<double> number_in(const Json& value) {
  if (value.is_number()) {
    const double number = value.get<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;  // newer trainers of Transformers print texts
  const std::string& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

// The dictionary at the brace, as Python or as JSON.
std::optional<Json> dictionary_at(std::string_view text) {
  if (std::optional<Json> python = parse_python_literal(text)) return python;
  try {
    return parse_json(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The whole number that ends the text: "Global step 12: ".
std::optional<int> number_before(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == ':' || text.back() == '-'))
    text.remove_suffix(1);
  std::size_t first = text.size();
  while (first > 0 && std::isdigit(static_cast<unsigned char>(text[first - 1])) != 0) --first;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), number);
  const bool is_word = first == 0 || text[first - 1] == ' ';
  return error == std::errc() && end == text.data() + text.size() && is_word ? std::optional(number)
                                                                             : std::nullopt;
}

class DriverConsole {
 public:
  VerlLog read(std::string_view text) {
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      take_line(text.substr(from, end - from));
      from = end + 1;
    }
    VerlLog log;
    steps_.finish(log);
    return log;
  }

 private:
  void take_line(std::string_view line) {
    constexpr std::string_view kStep = "Step ";
    const std::size_t brace = line.find('{');
    if (brace != std::string_view::npos && brace + 1 < line.size() &&
        (line[brace + 1] == '\'' || line[brace + 1] == '"'))
      return take_dictionary(line.substr(0, brace), line.substr(brace));
    if (const std::size_t at = line.find(kStep); at != std::string_view::npos && line.find('=') < at) {
      int number = 0;
      const std::string_view rest = line.substr(at + kStep.size());
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (error == std::errc() && end < rest.data() + rest.size() && *end == '/') block_ = number;
      return;
    }
    take_item(line);
  }

  void take_dictionary(std::string_view before, std::string_view text) {
    std::optional<Json> read = dictionary_at(text);
    if (!read || !read->is_object()) return;
    std::optional<int> number = number_before(before);
    const Json& metrics =
        read->contains("metrics") && (*read)["metrics"].is_object() ? (*read)["metrics"] : *read;
    for (const char* key : {"step", "global_step", "system/step"}) {
      if (number || !read->contains(key) || !(*read)[key].is_number_integer()) continue;
      number = (*read)[key].get<int>();
    }
    std::map<std::string, double> values;
    for (const auto& [key, value] : metrics.items()) {
      if (const std::optional<double> one = number_in(value)) values[key.substr(0, key.find('@'))] = *one;
    }
    if (number && *number >= 0 && !values.empty()) steps_.add(*number, values);
  }

  // "  • generation: 58.1s (51.7%)" of a block.
  void take_item(std::string_view line) {
    constexpr std::string_view kBullet = "\xe2\x80\xa2 ";
    const std::size_t at = line.find(kBullet);
    if (!block_ || at == std::string_view::npos) return;
    line.remove_prefix(at + kBullet.size());
    const std::size_t colon = line.rfind(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view value = line.substr(colon + 2);
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end != value.data() && std::isfinite(number))
      steps_.add(*block_, {{std::string(line.substr(0, colon)), number}});
  }

  StepsByNumber steps_;
  std::optional<int> block_;
};

}  // namespace

VerlLog parse_driver_console(std::string_view text) { return DriverConsole().read(text); }

}  // namespace sextant
