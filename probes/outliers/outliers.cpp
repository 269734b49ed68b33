#include "probes/outliers/outliers.h"

#include <algorithm>
#include <cmath>

#include "core/tails.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// With two values only their difference can be reported, not which one is the outlier.
void compare_two(std::span<const NamedValue> equals, const OddRule& rule, OddOnes& found) {
  const NoisyNumber first = log_of(equals[0].value, equals[0].spread_fraction);
  const NoisyNumber second = log_of(equals[1].value, equals[1].spread_fraction);
  const double apart = std::abs(first.value - second.value);
  const double deviation = std::max(std::hypot(first.error, second.error), kMinDeviation);
  const double sure = 1 - normal_tail(apart / deviation);
  if (apart <= std::log1p(rule.practical_fraction) || sure < rule.min_sureness) return;
  found.caveat = equals[0].name + " and " + equals[1].name + " differ by " + format_percent(std::expm1(apart)) +
                 " (" + describe_sure(sure) + "); with only two, the outlier cannot be identified";
}

}  // namespace

NoisyNumber log_of(double value, std::optional<double> spread_fraction) {
  SEXTANT_CHECK(value > 0);
  return {std::log(value), spread_fraction.value_or(0) / normal_deviations(0.05)};
}

OddOnes find_odd_ones(std::span<const NamedValue> equals, const OddRule& rule) {
  OddOnes found;
  if (equals.size() == 2) compare_two(equals, rule, found);
  std::vector<NoisyNumber> numbers;
  numbers.reserve(equals.size());
  for (const NamedValue& one : equals) numbers.push_back(log_of(one.value, one.spread_fraction));
  for (const Deviant& deviant : find_deviants(numbers, kMinDeviation)) {
    if (std::abs(deviant.off) <= std::log1p(rule.practical_fraction)) continue;
    const OddOne one{equals[deviant.index].name, std::expm1(deviant.off), deviant.sure};
    (deviant.sure >= rule.min_sureness ? found.odd : found.doubtful).push_back(one);
  }
  if (equals.size() == 3 && !found.doubtful.empty()) {
    found.caveat =
        "three equal members are too few for certainty: the other two show little about the usual spread";
  }
  return found;
}

std::string describe_sure(double sure) {
  constexpr double kMaxShown = 0.999;
  return format_percent(std::clamp(std::floor(1000 * sure) / 1000, 0.0, kMaxShown)) + " sure";
}

std::string describe(const OddOne& odd) {
  return odd.name + " is " + format_percent(std::abs(odd.off_fraction)) +
         (odd.off_fraction < 0 ? " below" : " above") + " the others (" + describe_sure(odd.sure) + ")";
}

}  // namespace sextant::inline probes
