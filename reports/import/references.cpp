#include "reports/import/references.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json_value.h"
#include "reports/import/shell_variables.h"

namespace sextant::inline reports {
namespace {

constexpr int kMaxReferences = 20;  // one after the other

std::string without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\"'");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\"'") - first + 1));
}

// The parts between commas that are not inside brackets.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      out.push_back(without_blanks(text.substr(first, i - first)));
      first = i + 1;
    } else {
      depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    }
  }
  return out;
}

class References {
 public:
  explicit References(const TrainerSettings& settings) : settings_(&settings) {}

  // `key`: of the setting that has the text, for references such as "${.name}". Absent: it stands for nothing.
  std::optional<Json> value_of(const std::string& text, const std::string& key, int depth) const {
    if (depth > kMaxReferences) return std::nullopt;
    if (!is_reference(text)) return setting_value(text);
    const std::string inside = text.substr(2, text.size() - 3);
    const std::size_t colon = inside.find(':'), brace = inside.find("${");
    if (colon == std::string::npos || colon > brace) return of_key(inside, key, depth);
    const std::vector<std::string> arguments = arguments_of(std::string_view(inside).substr(colon + 1));
    const std::string name = inside.substr(0, colon);
    if (name == "oc.select") {
      if (const auto found = of_key(arguments.front(), key, depth)) return found;
      return arguments.size() > 1 ? value_of(arguments[1], key, depth + 1) : std::nullopt;
    }
    return arguments.size() == 2 ? computed(name, arguments, key, depth) : std::nullopt;
  }

  static bool is_reference(const std::string& text) {
    return text.size() > 3 && text.substr(0, 2) == "${" && closing_bracket(text, 1) == text.size() - 1;
  }

 private:
  // "a.b.x" for the reference ".x" of the key "a.b.c", "a.x" for "..x": each further dot is a section up.
  static std::string absolute(const std::string& wanted, const std::string& key) {
    const std::size_t dots = std::min(wanted.find_first_not_of('.'), wanted.size());
    if (dots == 0) return wanted;
    std::string section = key;
    for (std::size_t i = 0; i < dots; ++i) {
      const std::size_t dot = section.rfind('.');
      section = dot == std::string::npos ? "" : section.substr(0, dot);
    }
    return (section.empty() ? "" : section + ".") + wanted.substr(dots);
  }

  std::optional<Json> of_key(const std::string& wanted, const std::string& key, int depth) const {
    const std::string name = absolute(wanted, key);
    const Json* found = settings_->find_or_assumed(name);
    if (found == nullptr) return std::nullopt;
    return found->is_string() ? value_of(found->get<std::string>(), name, depth + 1) : std::optional(*found);
  }

  std::optional<Json> computed(const std::string& name, const std::vector<std::string>& arguments,
                               const std::string& key, int depth) const {
    const auto a = value_of(arguments[0], key, depth + 1), b = value_of(arguments[1], key, depth + 1);
    constexpr long long kLargest = 1LL << 31;
    const auto is_small = [](const std::optional<Json>& value) {
      return value && value->is_number_integer() && std::abs(value->get<long long>()) <= kLargest;
    };
    if (!is_small(a) || !is_small(b)) return std::nullopt;
    const auto first = a->get<long long>(), second = b->get<long long>();
    if (name == "mul") return Json(first * second);
    const bool divides = name == "div" && second != 0;
    return divides ? std::optional(Json(first / second)) : std::nullopt;
  }

  const TrainerSettings* settings_;
};

}  // namespace

void resolve_references(TrainerSettings& settings) {
  const References references(settings);
  std::vector<std::pair<TrainerSetting, Json>> resolved;
  for (const TrainerSetting& one : settings.all()) {
    if (!one.value.is_string() || !References::is_reference(one.value.get<std::string>())) continue;
    if (const auto value = references.value_of(one.value.get<std::string>(), one.key, 0))
      resolved.emplace_back(one, *value);
  }
  std::vector<std::pair<std::string, Json>> assumed;
  for (const auto& [key, text] : settings.derived()) {
    if (!text.is_string() || !References::is_reference(text.get<std::string>())) continue;
    if (const auto value = references.value_of(text.get<std::string>(), key, 0))
      assumed.emplace_back(key, *value);
  }
  for (const auto& [one, value] : resolved) settings.put(one.key, value, one.where);
  for (const auto& [key, value] : assumed) settings.assume(key, value);
}

}  // namespace sextant::inline reports
