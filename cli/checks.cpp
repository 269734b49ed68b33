#include "cli/checks.h"

#include <cmath>

#include "core/text.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

// An empty sentence is CLI11's word for yes.
template <typename Accept>
CLI::Validator number(const std::string& wanted, const std::string& shown, Accept accept) {
  return CLI::Validator(
      [wanted, accept](const std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        if (is_number && std::isfinite(value) && accept(value)) return std::string();
        return "expected " + wanted + ", got " + in_quotes(text);
      },
      shown);
}

}  // namespace

CLI::Validator positive_number() {
  return number("a number above 0", "> 0", [](double value) { return value > 0; });
}

CLI::Validator non_negative_number() {
  return number("a number of at least 0", ">= 0", [](double value) { return value >= 0; });
}

CLI::Validator number_between(double least, double most) {
  const std::string range = format_number(least) + " to " + format_number(most);
  return number("a number from " + range, range, [=](double value) { return value >= least && value <= most; });
}

}  // namespace sextant::cli
