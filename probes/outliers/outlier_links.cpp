#include "probes/outliers/outlier_links.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/units.h"
#include "probes/outliers/host_effects.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

struct Directions {
  std::optional<NoisyNumber> up;    // from the lower number to the higher
  std::optional<NoisyNumber> down;  // back
};

using DirectionsByPair = std::map<std::pair<std::size_t, std::size_t>, Directions>;

DirectionsByPair by_pair(std::size_t hosts, std::span<const PairRate> rates) {
  DirectionsByPair pairs;
  for (const PairRate& rate : rates) {
    SEXTANT_CHECK(rate.from != rate.to && rate.from < hosts && rate.to < hosts);
    Directions& pair = pairs[std::minmax(rate.from, rate.to)];
    std::optional<NoisyNumber>& direction = rate.from < rate.to ? pair.up : pair.down;
    SEXTANT_CHECK(!direction);
    direction = log_of(rate.rate, rate.spread_fraction);
  }
  return pairs;
}

std::vector<PairNumber> means_of(const DirectionsByPair& pairs) {
  std::vector<PairNumber> means;
  for (const auto& [ends, pair] : pairs) {
    const NoisyNumber up = pair.up ? *pair.up : *pair.down, down = pair.down ? *pair.down : *pair.up;
    const double error = pair.up && pair.down ? 0.5 * std::hypot(up.error, down.error) : up.error;
    means.push_back({ends.first, ends.second, {0.5 * (up.value + down.value), error}});
  }
  return means;
}

std::vector<PairNumber> differences_of(const DirectionsByPair& pairs) {
  std::vector<PairNumber> differences;
  for (const auto& [ends, pair] : pairs) {
    if (!pair.up || !pair.down) continue;
    differences.push_back({ends.first,
                           ends.second,
                           {pair.up->value - pair.down->value, std::hypot(pair.up->error, pair.down->error)}});
  }
  return differences;
}

// A direction's logarithm is the mean plus or minus half the difference. Off in one direction only: both are,
// and the difference by at least as much as the mean.
OddLink odd_host(const std::string& name, const HostEffect& both, const HostEffect& apart) {
  const bool is_one_way = apart.is_odd() && std::abs(apart.off) >= std::abs(both.off);
  if (!is_one_way) return {OddLinkKind::host, name, "", std::expm1(both.off), both.sure};
  const bool is_sending = (apart.off < 0) == (both.off < 0);
  const double off = both.off + (is_sending ? 0.5 : -0.5) * apart.off;
  return {is_sending ? OddLinkKind::sending : OddLinkKind::receiving, name, "", std::expm1(off), apart.sure};
}

using OffByPair = std::map<std::pair<std::size_t, std::size_t>, Deviant>;

OffByPair off_by_pair(const std::vector<PairNumber>& numbers, const std::vector<Deviant>& odd) {
  OffByPair found;
  for (const Deviant& deviant : odd) {
    found[{numbers[deviant.index].low, numbers[deviant.index].high}] = deviant;
  }
  return found;
}

// A difference is seen from `low`: negative when low to high is the slower direction. Without an odd mean it is
// the slower direction that is named.
OddLink odd_pair(const std::string& low, const std::string& high, const Deviant* both, const Deviant* apart) {
  const double mean_off = both != nullptr ? both->off : -0.5 * std::abs(apart->off);
  if (apart == nullptr || std::abs(apart->off) < std::abs(mean_off)) {
    return {OddLinkKind::pair, low, high, std::expm1(mean_off), both->sure};
  }
  const bool is_up = (apart->off < 0) == (mean_off < 0);
  const double off = mean_off + (is_up ? 0.5 : -0.5) * apart->off;
  return {OddLinkKind::direction, is_up ? low : high, is_up ? high : low, std::expm1(off), apart->sure};
}

void sort_farthest_first(std::vector<OddLink>& links, std::size_t from) {
  std::stable_sort(links.begin() + static_cast<std::ptrdiff_t>(from), links.end(),
                   [](const OddLink& a, const OddLink& b) {
                     return std::abs(std::log1p(a.off_fraction)) > std::abs(std::log1p(b.off_fraction));
                   });
}

}  // namespace

std::vector<OddLink> find_odd_links(std::span<const std::string> hosts, std::span<const PairRate> rates,
                                    const OddRule& rule) {
  const DirectionsByPair pairs = by_pair(hosts.size(), rates);
  const std::vector<PairNumber> means = means_of(pairs), differences = differences_of(pairs);
  const int tests = differences.empty() ? 2 : 4;  // hosts and pairs, of means and of differences
  const Oddness oddness{std::log1p(rule.practical_fraction), rule.min_sureness, kMinDeviation, tests};
  const HostsAndPairs both = take_apart(hosts.size(), means, PairSymmetry::same, oddness);
  const HostsAndPairs apart = take_apart(hosts.size(), differences, PairSymmetry::opposite, oddness);
  std::vector<OddLink> found;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!both.hosts[host].is_odd() && !apart.hosts[host].is_odd()) continue;
    found.push_back(odd_host(hosts[host], both.hosts[host], apart.hosts[host]));
  }
  sort_farthest_first(found, 0);
  const std::size_t hosts_found = found.size();
  OffByPair odd_means = off_by_pair(means, both.pairs);
  const OffByPair odd_differences = off_by_pair(differences, apart.pairs);
  for (const auto& [ends, pair] : pairs) {
    const auto mean = odd_means.find(ends);
    const auto difference = odd_differences.find(ends);
    if (mean == odd_means.end() && difference == odd_differences.end()) continue;
    found.push_back(odd_pair(hosts[ends.first], hosts[ends.second],
                             mean == odd_means.end() ? nullptr : &mean->second,
                             difference == odd_differences.end() ? nullptr : &difference->second));
  }
  sort_farthest_first(found, hosts_found);
  return found;
}

std::string describe(const OddLink& odd) {
  const std::string off = format_percent(std::abs(odd.off_fraction)) +
                          (odd.off_fraction < 0 ? " below" : " above") + " the others (" +
                          describe_sure(odd.sure) + ")";
  switch (odd.kind) {
    case OddLinkKind::host:
      return "the links of " + odd.from + " are " + off;
    case OddLinkKind::sending:
      return "what " + odd.from + " sends is " + off;
    case OddLinkKind::receiving:
      return "what " + odd.from + " receives is " + off;
    case OddLinkKind::pair:
      return "the link " + odd.from + " - " + odd.to + " is " + off;
    case OddLinkKind::direction:
      return "the link from " + odd.from + " to " + odd.to + " is " + off;
  }
  return "";
}

}  // namespace sextant::inline probes
