#include "cli/command_line/checks.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "ask/words/nearest_name.h"
#include "core/text.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

// An empty sentence is CLI11's word for yes.
template <typename Accept>
Check number(const std::string& wanted, const std::string& shown, Accept accept) {
  return Check(CLI::Validator(
      [wanted, accept](const std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        if (is_number && std::isfinite(value) && accept(value)) return std::string();
        return "expected " + wanted + ", got " + in_quotes(text);
      },
      shown));
}

}  // namespace

Check::Check(const CLI::Validator& validator) : validator_(std::make_shared<const CLI::Validator>(validator)) {}

Check positive_number() {
  return number("a number above 0", "> 0", [](double value) { return value > 0; });
}

Check non_negative_number() {
  return number("a number of at least 0", ">= 0", [](double value) { return value >= 0; });
}

Check number_between(double minimum, double maximum) {
  const std::string range = format_number(minimum) + " to " + format_number(maximum);
  return number("a number from " + range, range,
                [=](double value) { return value >= minimum && value <= maximum; });
}

Check integer_between(std::int64_t minimum, std::int64_t maximum) {
  constexpr std::int64_t kMaxShown =
      1'000'000'000;  // a larger maximum is a limit of the type, not of the option
  const bool is_limited = maximum <= kMaxShown;
  const std::string from = std::to_string(minimum), to = std::to_string(maximum);
  const std::string wanted = is_limited ? "an integer from " + from + " to " + to : "an integer >= " + from;
  return Check(CLI::Validator(
      [=](const std::string& text) {
        std::int64_t value = 0;
        const bool is_integer = CLI::detail::lexical_cast(text, value);
        if (is_integer && value >= minimum && value <= maximum) return std::string();
        return "expected " + wanted + ", got " + in_quotes(text);
      },
      is_limited ? from + " to " + to : ">= " + from));
}

Check whole_number() {
  return Check(CLI::Validator(
      [](const std::string& text) {
        std::int64_t value = 0;
        const bool is_integer = CLI::detail::lexical_cast(text, value);
        return is_integer ? std::string() : "expected a whole number, got " + in_quotes(text);
      },
      ""));
}

Check not_empty() {
  return Check(CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? std::string("expected a text that is not empty") : "";
      },
      ""));
}

Check one_of(const std::vector<std::string>& names) {
  std::string listed, shown;
  for (const std::string& name : names) {
    listed += (listed.empty() ? "" : ", ") + name;
    shown += (shown.empty() ? "" : ",") + name;
  }
  return Check(CLI::Validator(
      [=](const std::string& text) {
        if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
        return "expected one of " + listed + "; got " + in_quotes(text) + did_you_mean(text, names);
      },
      "{" + shown + "}"));
}

}  // namespace sextant::cli
