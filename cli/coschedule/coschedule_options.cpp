#include "cli/coschedule/coschedule_options.h"

#include <cmath>
#include <limits>

#include "core/units.h"

namespace sextant::cli {

BoundBudget bound_budget(const CoscheduleOptions& options) {
  BoundBudget budget;
  if (options.bound_s) {
    budget.max_s = *options.bound_s;
    budget.work = *options.bound_s > 0 ? std::numeric_limits<double>::infinity() : 0;
  }
  if (options.bound_work) budget.work = *options.bound_work;
  return budget;
}

std::string dollars(double usd) {
  const double cents = std::round(usd * 100) / 100;
  std::string text = std::to_string(cents);
  return "$" + text.substr(0, text.find('.') + 3);
}

std::string words_of_tails(double tail_threshold) {
  return tail_threshold > 0 ? "move at " + format_percent(tail_threshold) + " of the responses" : "stay";
}

std::string times(double ratio) { return format_number(std::round(ratio * 1000) / 1000) + "x"; }

}  // namespace sextant::cli
