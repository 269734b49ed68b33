#include "probes/assembly/class_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "probes/assembly/cluster_assembly.h"

namespace sextant::inline probes {
namespace {

// A pair that is this much better between usual hosts is slowed by its own.
constexpr double kSlowedFraction = 0.1;

std::vector<RankPair> places_of(std::span<const MeasuredPair> pairs) {
  std::vector<RankPair> places;
  places.reserve(pairs.size());
  for (const MeasuredPair& it : pairs) places.push_back(it.pair);
  return places;
}

constexpr std::array<LinkLevel, kFleetLevels> kLevels{LinkLevel::within_zone, LinkLevel::within_region,
                                                      LinkLevel::between_regions};
constexpr std::array<const char*, kFleetLevels> kWhere{"within a zone", "between zones of a region",
                                                       "between regions"};

bool do_hosts_meet(const HostGroups& groups, LinkLevel level) {
  const auto has_two = [](const auto& of) { return of.size() > 1; };
  const auto& zones = groups.hosts_of_zone;
  const auto& regions = groups.zones_of_region;
  if (level == LinkLevel::within_zone) return std::any_of(zones.begin(), zones.end(), has_two);
  if (level == LinkLevel::within_region) return std::any_of(regions.begin(), regions.end(), has_two);
  return has_two(regions);
}

}  // namespace

ClassRates::ClassRates(std::span<const MeasuredPair> pairs, const PairModel& latency,
                       const PairModel& bandwidth)
    : pairs_(pairs),
      groups_(latency.groups()),
      classes_(groups_, places_of(pairs)),
      members_(static_cast<std::size_t>(classes_.count())) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const RankPair& pair = pairs[i].pair;
    for (int of = classes_.find(groups_, pair); of >= 0; of = classes_[of].parent) {
      members_[static_cast<std::size_t>(of)].push_back(i);
    }
    latency_is_slowed_.push_back(latency.predict(pair) >
                                 latency.predict_without_hosts(pair) * (1 + kSlowedFraction));
    bandwidth_is_slowed_.push_back(bandwidth.predict(pair) <
                                   bandwidth.predict_without_hosts(pair) * (1 - kSlowedFraction));
  }
}

std::map<LinkLevel, LinkRate> ClassRates::level_rates(std::vector<std::string>& warnings) const {
  std::map<LinkLevel, LinkRate> levels;
  for (int level = 0; level < kFleetLevels; ++level) {
    const LinkLevel at = kLevels.at(static_cast<std::size_t>(level));
    if (pairs_of(level) > 0) {
      levels[at] = rate(level);
    } else if (do_hosts_meet(groups_, at)) {
      levels[at] = borrowed_rate(level, warnings);
    }
  }
  return levels;
}

LinkRate ClassRates::borrowed_rate(int level, std::vector<std::string>& warnings) const {
  int from = level + 1;
  while (from < kFleetLevels && pairs_of(from) == 0) ++from;
  if (from == kFleetLevels) from = level - 1;
  while (pairs_of(from) == 0) --from;
  const std::string here = kWhere.at(static_cast<std::size_t>(level));
  const std::string there = kWhere.at(static_cast<std::size_t>(from));
  warnings.push_back("no pair of hosts " + here + " was measured, although such pairs exist: the rate " +
                     there + " is assumed for them.");
  const LinkRate rate_there = rate(from);
  const std::string note = "not measured: the rate " + there;
  return {assumed(rate_there.latency_s.value, note), assumed(rate_there.bytes_per_s.value, note)};
}

LinkRate ClassRates::rate(int number) const {
  return {median_of(number, latency_is_slowed_, &LinkRate::latency_s),
          median_of(number, bandwidth_is_slowed_, &LinkRate::bytes_per_s)};
}

Quantity ClassRates::median_of(int number, const std::vector<bool>& is_slowed,
                               Quantity LinkRate::*quantity) const {
  const auto& members = members_[static_cast<std::size_t>(number)];
  const bool all_slowed =
      std::all_of(members.begin(), members.end(), [&](std::size_t i) { return is_slowed[i]; });
  std::vector<double> values, spreads;
  for (const std::size_t i : members) {
    if (is_slowed[i] && !all_slowed) continue;
    const Quantity& of_pair = pairs_[i].rate.*quantity;
    values.push_back(of_pair.value);
    spreads.push_back(of_pair.spread_fraction.value_or(0));
  }
  std::string note = "median of " + std::to_string(values.size()) + (values.size() == 1 ? " pair" : " pairs");
  if (values.size() < members.size())
    note += "; without " + std::to_string(members.size() - values.size()) + " that a host slows";
  return median_quantity(values, spreads, note);
}

double distance(const LinkRate& one, const LinkRate& usual) {
  return std::max(std::abs(std::log(one.latency_s.value / usual.latency_s.value)),
                  std::abs(std::log(one.bytes_per_s.value / usual.bytes_per_s.value)));
}

}  // namespace sextant::inline probes
