#include "probes/fleet/fleet_oddities.h"

#include <map>
#include <utility>

#include "core/document.h"
#include "core/error.h"
#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/names.h"
#include "probes/cluster_assembly.h"
#include "probes/fleet/compare/odd_links.h"
#include "probes/fleet/compare/odd_ones.h"

namespace sextant {
namespace {

using Equals = std::map<std::string, std::vector<NamedValue>>;  // by what is compared

void add(Equals& equals, const std::string& what, const std::string& host, const Quantity& quantity) {
  if (quantity.source != Source::measured) return;
  equals[what].push_back({host, quantity.value, quantity.spread_fraction});
}

void add_devices(Equals& equals, const HostOutcome& host) {
  const Cluster cluster = parse_document<Cluster>(compact(*host.devices)).content;
  for (const auto& [name, type] : cluster.device_types()) {
    add(equals, "memory bandwidth of " + name, host.host.name, type.memory_bytes_per_s);
    if (type.host_bytes_per_s)
      add(equals, "link to the host of " + name, host.host.name, *type.host_bytes_per_s);
    for (const auto& [precision, rate] : type.flop_per_s) {
      add(equals, "GEMM " + std::string(name_of(precision)) + " of " + name, host.host.name, rate);
    }
  }
}

Equals device_rates(const FleetOutcome& outcome) {
  Equals equals;
  for (const HostOutcome& host : outcome.hosts) {
    if (!host.devices) continue;
    try {
      add_devices(equals, host);
    } catch (const Error&) {  // the cluster document says that it makes no sense
    }
  }
  return equals;
}

struct Zone {
  std::vector<std::string> hosts;
  std::vector<PairRate> rates;
};

std::map<std::string, Zone> zones_of(const FleetOutcome& outcome) {
  std::map<std::string, Zone> zones;
  std::map<std::string, std::pair<std::string, std::size_t>> place_of;  // zone, and number in it
  for (const HostOutcome& host : outcome.hosts) {
    Zone& zone = zones[host.host.zone];
    place_of[host.host.name] = {host.host.zone, zone.hosts.size()};
    zone.hosts.push_back(host.host.name);
  }
  std::map<std::pair<std::string, std::string>, const PairMeasurement*> latest;
  for (const PairMeasurement& pair : outcome.pairs) latest[std::minmax(pair.from, pair.to)] = &pair;
  for (const auto& [names, pair] : latest) {
    const auto& [zone, from] = place_of[pair->from];
    const auto& [other_zone, to] = place_of[pair->to];
    if (zone != other_zone) continue;
    const StreamRate& there = *pair->rate(Direction::there, 1);
    const StreamRate& back = *pair->rate(Direction::back, 1);
    zones[zone].rates.push_back({from, to, there.bytes_per_s, there.spread_fraction});
    zones[zone].rates.push_back({to, from, back.bytes_per_s, back.spread_fraction});
  }
  return zones;
}

}  // namespace

std::vector<std::string> describe_oddities(const FleetOutcome& outcome) {
  std::vector<std::string> sentences;
  for (const auto& [what, equals] : device_rates(outcome)) {
    const OddOnes found = find_odd_ones(equals, {.practical_fraction = kOddDeviceFraction});
    for (const OddOne& odd : found.odd) sentences.push_back(what + ": " + describe(odd));
    for (const OddOne& odd : found.doubtful) sentences.push_back(what + ": perhaps " + describe(odd));
    if (!found.caveat.empty()) sentences.push_back(what + ": " + found.caveat);
  }
  for (const auto& [name, zone] : zones_of(outcome)) {
    for (const OddLink& odd : find_odd_links(zone.hosts, zone.rates)) {
      sentences.push_back("bandwidth in zone " + name + ": " + describe(odd));
    }
  }
  return sentences;
}

}  // namespace sextant
