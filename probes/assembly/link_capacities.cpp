#include "probes/assembly/link_capacities.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/schedule/host_groups.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

// The most that pairs of one round reached together, and how many they were.
struct Together {
  double bytes_per_s = 0;
  int pairs = 0;
  double spread_fraction = 0;  // the largest of theirs
};
using OfPlaces = std::map<RankPair, Together>;

// place_of: by host, its zone or its region. Pairs within one place are not looked at.
OfPlaces reached_together(std::span<const MeasuredPair> pairs, const std::vector<int>& place_of) {
  std::map<std::pair<RankPair, int>, Together> of_rounds;
  for (const MeasuredPair& it : pairs) {
    const int low = place_of[static_cast<std::size_t>(it.pair.low)];
    const int high = place_of[static_cast<std::size_t>(it.pair.high)];
    if (low == high || it.round == 0) continue;
    Together& together = of_rounds[{pair_of(low, high), it.round}];
    together.bytes_per_s += it.rate.bytes_per_s.value;
    ++together.pairs;
    together.spread_fraction =
        std::max(together.spread_fraction, it.rate.bytes_per_s.spread_fraction.value_or(0));
  }
  OfPlaces maximum;
  for (const auto& [round, together] : of_rounds) {
    Together& so_far = maximum[round.first];
    if (so_far.bytes_per_s < together.bytes_per_s) so_far = together;
  }
  return maximum;
}

Quantity capacity_of(const Together& together, double min_bytes_per_s) {
  const std::string pairs = std::to_string(together.pairs);
  return measured(std::max(together.bytes_per_s, min_bytes_per_s), together.spread_fraction,
                  together.pairs == 1 ? "of two hosts; no others were measured at the same time"
                                      : "together, of " + pairs + " pairs of hosts at the same time");
}

// The median of the measurements with the most pairs at once.
std::optional<Together> usual_of(const std::vector<Together>& all) {
  int maximum = 0;
  for (const Together& one : all) maximum = std::max(maximum, one.pairs);
  std::vector<double> rates, spreads;
  for (const Together& one : all) {
    if (one.pairs != maximum) continue;
    rates.push_back(one.bytes_per_s);
    spreads.push_back(one.spread_fraction);
  }
  if (rates.empty()) return std::nullopt;
  return Together{median(rates), maximum, std::max(median(spreads), relative_spread(rates))};
}

class Capacities {
 public:
  Capacities(std::span<const HostPlace> places, std::span<const MeasuredPair> pairs, bool devices_share)
      : places_(places),
        groups_(group_hosts(places)),
        zones_(reached_together(pairs, groups_.zone_of)),
        regions_(reached_together(pairs, groups_.region_of)),
        devices_share_(devices_share) {}

  void add_to(FleetLinks& links) const {
    for (auto& [level, rate] : links.levels) {
      if (level == LinkLevel::within_zone) set_of_nodes(rate);
      if (level == LinkLevel::within_region) set(rate, usual_of(between_zones_of_one_region()));
      if (level == LinkLevel::between_regions) set(rate, usual_of(values(regions_)));
    }
    for (LinkException& it : links.exceptions) set_exception(it);
  }

 private:
  static std::vector<Together> values(const OfPlaces& of_places) {
    std::vector<Together> all;
    for (const auto& [places, together] : of_places) all.push_back(together);
    return all;
  }
  [[nodiscard]] int region_of_zone(int zone) const {
    return groups_.region_of_zone[static_cast<std::size_t>(zone)];
  }
  [[nodiscard]] std::vector<Together> between_zones_of_one_region(std::optional<int> region = {}) const {
    std::vector<Together> all;
    for (const auto& [zones, together] : zones_) {
      const int of_low = region_of_zone(zones.low);
      if (of_low == region_of_zone(zones.high) && (!region || *region == of_low)) all.push_back(together);
    }
    return all;
  }

  void set_of_nodes(LinkRate& rate) const {
    if (!devices_share_) return;
    rate.capacity_bytes_per_s = rate.bytes_per_s;
    rate.capacity_bytes_per_s->note = "what devices of two hosts share";
  }
  // A rate that rounds of fewer pairs gave is no less than what is shared.
  static void set(LinkRate& rate, const std::optional<Together>& together) {
    if (together) rate.capacity_bytes_per_s = capacity_of(*together, rate.bytes_per_s.value);
  }

  [[nodiscard]] std::optional<int> number_of(const std::string& name, std::string HostPlace::*member,
                                             const std::vector<int>& of_host) const {
    for (std::size_t host = 0; host < places_.size(); ++host) {
      if (places_[host].*member == name) return of_host[host];
    }
    return std::nullopt;
  }

  void set_exception(LinkException& it) const {
    const bool is_zone = it.scope == LinkScope::zone;
    if (it.scope == LinkScope::node || (is_zone && it.from == it.to)) {
      set_of_nodes(it.rate);
      return;
    }
    const auto member = is_zone ? &HostPlace::zone : &HostPlace::region;
    const std::vector<int>& of_host = is_zone ? groups_.zone_of : groups_.region_of;
    const auto from = number_of(it.from, member, of_host), to = number_of(it.to, member, of_host);
    if (!from || !to) return;
    if (from == to) {  // a region with itself: its zones
      set(it.rate, usual_of(between_zones_of_one_region(from)));
      return;
    }
    const OfPlaces& of_places = is_zone ? zones_ : regions_;
    const auto found = of_places.find(pair_of(*from, *to));
    if (found != of_places.end()) set(it.rate, found->second);
  }

  std::span<const HostPlace> places_;
  HostGroups groups_;
  OfPlaces zones_, regions_;
  bool devices_share_;
};

}  // namespace

void add_capacities(std::span<const HostPlace> places, std::span<const MeasuredPair> pairs, bool devices_share,
                    FleetLinks& links) {
  Capacities(places, pairs, devices_share).add_to(links);
}

}  // namespace sextant::inline probes
