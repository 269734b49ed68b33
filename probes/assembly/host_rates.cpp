#include "probes/assembly/host_rates.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/units.h"
#include "probes/assembly/cluster_assembly.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

constexpr double kSameRate = 1.25;
constexpr std::size_t kNamed = 3;  // in a warning

using RateOfHost = std::pair<double, int>;

std::vector<RateOfHost> slow_hosts(std::span<const HostPlace> places, const PairModel& bandwidth) {
  std::vector<RateOfHost> slow;
  for (int host = 0; host < static_cast<int>(places.size()); ++host) {
    const double rate = bandwidth.with_usual_neighbour(host);
    if (rate < bandwidth.between_usual_neighbours(host) * (1 - kOddLinkFraction)) slow.emplace_back(rate, host);
  }
  std::sort(slow.begin(), slow.end());
  return slow;
}

std::string sentence(std::span<const HostPlace> places, std::span<const RateOfHost> hosts, double rate) {
  std::string names;
  for (std::size_t i = 0; i < std::min(hosts.size(), kNamed); ++i) {
    names += (i == 0 ? "" : ", ") + places[static_cast<std::size_t>(hosts[i].second)].name;
  }
  if (hosts.size() > kNamed) names += " and " + std::to_string(hosts.size() - kNamed) + " more";
  return names + (hosts.size() == 1 ? " reaches " : " reach ") + format_bytes_per_s(rate) +
         " with every other host, more than " + format_percent(kOddLinkFraction, 0) +
         " below the usual rate of its zone. The cluster document has it as the rate of the node's network. "
         "Check "
         "the adapter, the cable and the port.";
}

}  // namespace

HostRates find_slow_hosts(std::span<const HostPlace> places, const PairModel& bandwidth) {
  HostRates found;
  found.network_bytes_per_s.resize(places.size());
  const std::vector<RateOfHost> slow = slow_hosts(places, bandwidth);
  for (std::size_t first = 0, end = 0; first < slow.size(); first = end) {
    std::vector<double> rates;
    for (; end < slow.size() && slow[end].first <= kSameRate * slow[first].first; ++end) {
      rates.push_back(slow[end].first);
    }
    const double rate = median(rates);
    for (std::size_t i = first; i < end; ++i) {
      found.network_bytes_per_s[static_cast<std::size_t>(slow[i].second)] = rate;
    }
    found.warnings.push_back(sentence(places, std::span(slow).subspan(first, end - first), rate));
  }
  return found;
}

}  // namespace sextant::inline probes
