#include "cli/command_line/checks.h"

#include <CLI/CLI.hpp>
#include <cmath>

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
  return Check(CLI::Range(minimum, maximum));
}

Check one_of(const std::vector<std::string>& names) { return Check(CLI::IsMember(names)); }

}  // namespace sextant::cli
