#include "probes/outliers/host_effects.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

double sign_of(PairSymmetry symmetry) { return symmetry == PairSymmetry::same ? 1 : -1; }

std::vector<std::vector<double>> seen_from(std::size_t hosts, const std::vector<PairNumber>& pairs,
                                           double sign) {
  std::vector<std::vector<double>> seen(hosts);
  for (const PairNumber& pair : pairs) {
    seen[pair.low].push_back(pair.number.value);
    seen[pair.high].push_back(sign * pair.number.value);
  }
  return seen;
}

std::vector<HostEffect> host_medians(const std::vector<std::vector<double>>& seen) {
  std::vector<HostEffect> effects(seen.size());
  for (std::size_t host = 0; host < seen.size(); ++host) {
    effects[host].pairs = seen[host].size();
    if (seen[host].size() >= kMinPairs) effects[host].off = median(seen[host]);
  }
  return effects;
}

// From medians to distances from the usual one.
void center(std::vector<HostEffect>& effects) {
  std::vector<double> usual;
  for (const HostEffect& effect : effects) {
    if (effect.is_judged() && !effect.is_odd()) usual.push_back(effect.off);
  }
  if (usual.empty()) return;
  const double middle = median(usual);
  for (HostEffect& effect : effects) {
    if (effect.is_judged()) effect.off -= middle;
  }
}

// Medians of so many pairs have pi / 2 of a mean's variance by chance.
double chance_of_median(double pair_deviation, std::size_t pairs) {
  return std::sqrt(std::numbers::pi / 2 / static_cast<double>(pairs)) * pair_deviation;
}

void find_odd_hosts(std::vector<HostEffect>& effects, double pair_deviation, const Oddness& oddness) {
  std::vector<NoisyNumber> medians;
  std::vector<std::size_t> judged;
  for (std::size_t host = 0; host < effects.size(); ++host) {
    if (!effects[host].is_judged()) continue;
    medians.push_back({effects[host].off, chance_of_median(pair_deviation, effects[host].pairs)});
    judged.push_back(host);
  }
  for (const Deviant& deviant : find_deviants(medians, oddness.min_deviation)) {
    const double sure = oddness.sure_among_tests(deviant);
    if (sure >= oddness.min_sureness) effects[judged[deviant.index]].sure = sure;
  }
}

// The effect of the two hosts on a pair; `share` of the effect of hosts that are not outliers.
double effect_on(const PairNumber& pair, const std::vector<HostEffect>& effects, double sign, double share) {
  const HostEffect& low = effects[pair.low];
  const HostEffect& high = effects[pair.high];
  const bool are_both_slow = low.is_odd() && high.is_odd() && low.off < 0 && high.off < 0;
  if (sign > 0 && are_both_slow) return std::min(low.off, high.off);
  return (low.is_odd() ? 1 : share) * low.off + sign * (high.is_odd() ? 1 : share) * high.off;
}

std::vector<NoisyNumber> without_hosts(const std::vector<PairNumber>& pairs,
                                       const std::vector<HostEffect>& effects, double sign, double share) {
  std::vector<NoisyNumber> rest;
  rest.reserve(pairs.size());
  for (const PairNumber& pair : pairs) {
    rest.push_back({pair.number.value - effect_on(pair, effects, sign, share), pair.number.error});
  }
  return rest;
}

// The deviation by the median distance from the median; `fitted` effects took degrees of freedom.
double robust_deviation(const std::vector<NoisyNumber>& numbers, std::size_t fitted) {
  if (numbers.size() <= fitted) return 0;
  std::vector<double> values;
  values.reserve(numbers.size());
  for (const NoisyNumber& number : numbers) values.push_back(number.value);
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  const auto count = static_cast<double>(numbers.size());
  return median(values) / kMedianOfNormal * std::sqrt(count / (count - static_cast<double>(fitted)));
}

// Which part of the variance between hosts that are not odd is more than chance.
double share_of_effects(const std::vector<HostEffect>& effects, double pair_deviation) {
  std::vector<double> offs, by_chance;
  for (const HostEffect& effect : effects) {
    if (effect.is_odd() || !effect.is_judged()) continue;
    offs.push_back(effect.off);
    by_chance.push_back(std::pow(chance_of_median(pair_deviation, effect.pairs), 2));
  }
  if (offs.size() < 3) return 0;
  const double between = standard_deviation(offs);
  return between > 0 ? std::max(0.0, 1 - mean(by_chance) / (between * between)) : 0;
}

}  // namespace

double Oddness::sure_among_tests(const Deviant& deviant) const {
  return std::abs(deviant.off) > min_off ? std::max(0.0, 1 - tests * (1 - deviant.sure)) : 0;
}

HostsAndPairs take_apart(std::size_t hosts, const std::vector<PairNumber>& pairs, PairSymmetry symmetry,
                         const Oddness& oddness) {
  HostsAndPairs found;
  const double sign = sign_of(symmetry);
  found.hosts = host_medians(seen_from(hosts, pairs, sign));
  if (pairs.empty()) return found;
  center(found.hosts);
  const double deviation = robust_deviation(without_hosts(pairs, found.hosts, sign, 1), hosts);
  find_odd_hosts(found.hosts, deviation, oddness);
  center(found.hosts);
  const double share = share_of_effects(found.hosts, deviation);
  const std::vector<NoisyNumber> rest = without_hosts(pairs, found.hosts, sign, share);
  const auto lost = static_cast<std::size_t>(std::ceil(share * static_cast<double>(hosts - 1)));
  for (Deviant deviant : find_deviants(rest, oddness.min_deviation, lost)) {
    deviant.sure = oddness.sure_among_tests(deviant);
    if (deviant.sure >= oddness.min_sureness) found.pairs.push_back(deviant);
  }
  return found;
}

}  // namespace sextant::inline probes
