#include "probes/fleet/compare/value_change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "core/tails.h"

namespace sextant::inline probes {
namespace {

constexpr const char* kDevices = "devices";
constexpr const char* kSeconds = "s";
constexpr double kMaxNoise = 1e9;  // what nobody knows; documents hold no infinity

bool has_noise(const Quantity& quantity) {
  return quantity.source == Source::measured && quantity.spread_fraction.has_value();
}

bool has_noise(const ValuePair& comparison) {
  return comparison.before && comparison.after && has_noise(*comparison.before) && has_noise(*comparison.after);
}

// Empty when noise is known.
std::string_view why_no_noise(const Quantity& quantity) {
  if (has_noise(quantity)) return "";
  if (quantity.source == Source::datasheet) return "from a datasheet";
  return quantity.source == Source::assumed ? "assumed" : "without a spread";
}

std::string note_of(const ValuePair& comparison) {
  if (!comparison.before) return "only after";
  if (!comparison.after) return "only before";
  if (comparison.unit == kDevices && comparison.before->value == 0) return "a new node";
  if (comparison.unit == kDevices && comparison.after->value == 0) return "the node is gone";
  if (has_noise(comparison) || comparison.unit == kDevices) return "";
  const std::string_view before = why_no_noise(*comparison.before), after = why_no_noise(*comparison.after);
  std::string which;
  if (!before.empty()) which = (before == after ? "both are " : "before is ") + std::string(before);
  if (!after.empty() && before != after)
    which += (which.empty() ? "after is " : ", after is ") + std::string(after);
  return "threshold alone: " + which;
}

// Deviations of one number in a 95 % interval become those of `count` numbers.
double widening(std::size_t count, double false_alarm_fraction) {
  const auto numbers = static_cast<double>(std::max<std::size_t>(count, 1));
  return normal_deviations(false_alarm_fraction / numbers) / normal_deviations(0.05);
}

ChangeVerdict verdict_on(const ValueChange& change, const ChangeRule& rule) {
  if (!change.before || !change.after) return ChangeVerdict::missing;
  const double minimum = change.unit == kDevices ? 0 : std::log1p(rule.threshold_fraction);
  const double size = change.size();
  if (size <= minimum || size <= std::log1p(change.noise_fraction.value_or(0))) return ChangeVerdict::same;
  const bool is_less = *change.after < *change.before;
  return is_less == (change.unit == kSeconds) ? ChangeVerdict::better : ChangeVerdict::worse;
}

}  // namespace

double ValueChange::size() const {
  if (!before || !after || *before == *after) return 0;
  if (*before <= 0 || *after <= 0) return std::numeric_limits<double>::infinity();
  return std::abs(std::log(*after) - std::log(*before));
}

bool is_hidden_by_noise(const ValueChange& change, double threshold_fraction) {
  return change.verdict == ChangeVerdict::same && change.unit != kDevices &&
         change.noise_fraction.has_value() && change.size() > std::log1p(threshold_fraction);
}

void sort_worst_first(std::vector<ValueChange>& changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const ValueChange& a, const ValueChange& b) {
    return std::pair(a.verdict, -a.size()) < std::pair(b.verdict, -b.size());
  });
}

std::vector<ValueChange> judge_changes(const std::vector<ValuePair>& comparisons, const ChangeRule& rule) {
  const auto noisy = std::count_if(comparisons.begin(), comparisons.end(),
                                   [](const ValuePair& comparison) { return has_noise(comparison); });
  const double widened = widening(static_cast<std::size_t>(noisy), rule.false_alarm_fraction);
  std::vector<ValueChange> changes;
  for (const ValuePair& it : comparisons) {
    ValueChange change{it.where, it.what, it.unit, {}, {}, {}, ChangeVerdict::same, note_of(it)};
    if (it.before) change.before = it.before->value;
    if (it.after) change.after = it.after->value;
    if (has_noise(it)) {
      change.noise_fraction = std::min(
          kMaxNoise, std::expm1(widened * std::hypot(*it.before->spread_fraction, *it.after->spread_fraction)));
    }
    change.verdict = verdict_on(change, rule);
    changes.push_back(std::move(change));
  }
  sort_worst_first(changes);
  return changes;
}

}  // namespace sextant::inline probes
