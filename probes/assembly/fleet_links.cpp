#include "probes/assembly/fleet_links.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/units.h"
#include "probes/assembly/class_rates.h"
#include "probes/assembly/cluster_assembly.h"
#include "probes/assembly/host_rates.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::size_t kFewestOfException = 3;  // pairs, where there are as many
constexpr std::size_t kMaxOfFew = 2048;        // exceptions in a small fleet: about all pairs of 64 hosts

class HostLinks {
 public:
  HostLinks(std::span<const HostPlace> places, std::span<const MeasuredPair> pairs, const PairModel& latency,
            const PairModel& bandwidth)
      : places_(places),
        pairs_(pairs),
        latency_(latency),
        bandwidth_(bandwidth),
        groups_(latency.groups()),
        rates_(pairs, latency, bandwidth) {}

  FleetLinks assemble() {
    links_.levels = rates_.level_rates(links_.warnings);
    HostRates hosts = find_slow_hosts(places_, bandwidth_);
    links_.network_bytes_per_s = std::move(hosts.network_bytes_per_s);
    links_.warnings.insert(links_.warnings.end(), hosts.warnings.begin(), hosts.warnings.end());
    keep(odd_classes(LinkScope::region), "regions");
    keep(odd_classes(LinkScope::zone), "zones");
    keep(zones_of_uplinks(), "zones that were not measured with each other");
    keep(odd_pairs(), "hosts");
    return std::move(links_);
  }

 private:
  // About two hosts, zones or regions by number.
  struct Odd {
    LinkScope scope = LinkScope::node;
    RankPair between;  // low may be high
    LinkRate rate;
    double distance = 0;
  };

  // The rate that the cluster has for a class of pairs so far.
  [[nodiscard]] const LinkRate& known(LinkLevel level, const RankPair& zones) const {
    const auto of_zones = of_zones_.find(zones);
    if (of_zones != of_zones_.end()) return of_zones->second;
    return known_of_regions(level, regions_of(zones));
  }
  [[nodiscard]] const LinkRate& known_of_regions(LinkLevel level, const RankPair& regions) const {
    const auto found = of_regions_.find(regions);
    const bool holds = level != LinkLevel::within_zone && found != of_regions_.end();
    return holds ? found->second : links_.levels.at(level);
  }
  static RankPair ascending(int a, int b) { return {std::min(a, b), std::max(a, b)}; }
  [[nodiscard]] RankPair regions_of(const RankPair& zones) const {
    return ascending(groups_.region_of_zone[static_cast<std::size_t>(zones.low)],
                     groups_.region_of_zone[static_cast<std::size_t>(zones.high)]);
  }
  [[nodiscard]] RankPair zones_of(const RankPair& pair) const {
    return ascending(groups_.zone_of[static_cast<std::size_t>(pair.low)],
                     groups_.zone_of[static_cast<std::size_t>(pair.high)]);
  }
  [[nodiscard]] int a_host(int zone, bool last) const {
    const auto& hosts = groups_.hosts_of_zone[static_cast<std::size_t>(zone)];
    return last ? hosts.back() : hosts.front();
  }

  [[nodiscard]] std::vector<Odd> odd_classes(LinkScope scope) const {
    std::vector<Odd> odd;
    for (int number = kFleetLevels; number < rates_.classes().count(); ++number) {
      const PairClass& it = rates_.classes()[number];
      if (it.scope != scope || rates_.pairs_of(number) < kFewestOfException) continue;
      const RankPair between{it.low, it.high};
      const LinkRate rate = rates_.rate(number);
      const LinkRate& usual = scope == LinkScope::region ? links_.levels.at(it.level)
                                                         : known_of_regions(it.level, regions_of(between));
      if (is_odd(rate, usual)) odd.push_back({scope, between, rate, distance(rate, usual)});
    }
    return odd;
  }

  // Zones whose uplink differs, with those that they were not measured with.
  [[nodiscard]] std::vector<Odd> zones_of_uplinks() const {
    std::map<RankPair, Odd> odd;
    for (int zone = 0; zone < groups_.zone_count(); ++zone) {
      if (!latency_.has_uplink_of_its_own(zone) && !bandwidth_.has_uplink_of_its_own(zone)) continue;
      for (int other = 0; other < groups_.zone_count(); ++other) {
        if (other == zone) continue;
        const RankPair zones = ascending(zone, other);
        const RankPair hosts = pair_of(a_host(zone, false), a_host(other, true));
        const PairClass& known_class = rates_.classes()[rates_.classes().find(groups_, hosts)];
        const bool is_judged = known_class.scope == LinkScope::zone &&
                               rates_.pairs_of(rates_.classes().find(groups_, hosts)) >= kFewestOfException;
        if (is_judged || of_zones_.contains(zones)) continue;
        const LinkRate& usual = known(groups_.level_of(hosts), zones);
        const LinkRate rate = estimate(hosts);
        if (is_odd(rate, usual)) odd[zones] = {LinkScope::zone, zones, rate, distance(rate, usual)};
      }
    }
    std::vector<Odd> all;
    all.reserve(odd.size());
    for (const auto& [zones, it] : odd) all.push_back(it);
    return all;
  }
  [[nodiscard]] LinkRate estimate(const RankPair& pair) const {
    const std::string note = "not measured: estimated from what else was measured of both zones";
    return {assumed(latency_.predict_without_hosts(pair), note),
            assumed(bandwidth_.predict_without_hosts(pair), note)};
  }

  // Measured pairs that are not what the cluster says by now.
  [[nodiscard]] std::vector<Odd> odd_pairs() const {
    std::vector<Odd> odd;
    for (const MeasuredPair& it : pairs_) {
      LinkRate usual = known(groups_.level_of(it.pair), zones_of(it.pair));
      for (const int host : {it.pair.low, it.pair.high}) {
        const auto& maximum = links_.network_bytes_per_s[static_cast<std::size_t>(host)];
        if (maximum) usual.bytes_per_s.value = std::min(usual.bytes_per_s.value, *maximum);
      }
      if (is_odd(it.rate, usual)) odd.push_back({LinkScope::node, it.pair, it.rate, distance(it.rate, usual)});
    }
    return odd;
  }

  void keep(std::vector<Odd> odd, const std::string& what) {
    const std::size_t maximum = std::max(places_.size(), kMaxOfFew) - links_.exceptions.size();
    std::stable_sort(odd.begin(), odd.end(),
                     [](const Odd& a, const Odd& b) { return a.distance > b.distance; });
    if (odd.size() > maximum) {
      links_.warnings.push_back("of " + std::to_string(odd.size()) + " links between " + what + " more than " +
                                format_percent(kOddLinkFraction, 0) + " off the usual rate, only the " +
                                std::to_string(maximum) +
                                " largest deviations are kept in the cluster document.");
      odd.resize(maximum);
    }
    for (const Odd& it : odd) add(it);
  }
  void add(const Odd& it) {
    if (it.scope == LinkScope::region) of_regions_[it.between] = it.rate;
    if (it.scope == LinkScope::zone) of_zones_[it.between] = it.rate;
    links_.exceptions.push_back(
        {it.scope, name(it.scope, it.between.low), name(it.scope, it.between.high), it.rate, true});
  }
  [[nodiscard]] const std::string& name(LinkScope scope, int number) const {
    if (scope == LinkScope::node) return places_[static_cast<std::size_t>(number)].name;
    const int zone =
        scope == LinkScope::zone ? number : groups_.zones_of_region[static_cast<std::size_t>(number)].front();
    const HostPlace& place = places_[static_cast<std::size_t>(a_host(zone, false))];
    return scope == LinkScope::zone ? place.zone : place.region;
  }

  std::span<const HostPlace> places_;
  std::span<const MeasuredPair> pairs_;
  const PairModel& latency_;
  const PairModel& bandwidth_;
  const HostGroups& groups_;
  ClassRates rates_;
  FleetLinks links_;
  std::map<RankPair, LinkRate> of_zones_;  // exceptions
  std::map<RankPair, LinkRate> of_regions_;
};

}  // namespace

FleetLinks assemble_fleet_links(std::span<const HostPlace> places, std::span<const MeasuredPair> pairs,
                                const PairModel& latency, const PairModel& bandwidth) {
  SEXTANT_CHECK(!pairs.empty());
  return HostLinks(places, pairs, latency, bandwidth).assemble();
}

}  // namespace sextant::inline probes
