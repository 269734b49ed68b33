#include "probes/assembly/cluster_outliers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "documents/values/names.h"
#include "probes/assembly/cluster_assembly.h"
#include "probes/outliers/equal_links.h"
#include "sextant/cluster.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

using EqualDevices = std::map<std::string, std::vector<NamedValue>>;  // by what is compared

// Adds the medians of a host that reported no samples.
void add_medians(EqualDevices& equals, const std::string& host, const Cluster& cluster) {
  const auto add = [&](const std::string& what, const Quantity& quantity) {
    if (quantity.source == Source::measured)
      equals[what].push_back({host, quantity.value, quantity.spread_fraction});
  };
  for (const auto& [name, type] : cluster.device_types()) {
    add("memory bandwidth of " + name, type.memory_bytes_per_s);
    if (type.host_bytes_per_s) add("link to the host of " + name, *type.host_bytes_per_s);
    for (const auto& [precision, rate] : type.flop_per_s) {
      add("GEMM " + std::string(name_of(precision)) + " of " + name, rate);
    }
  }
}

std::map<int, std::vector<ProbeResult>> by_device(const std::vector<ProbeResult>& results) {
  std::map<int, std::vector<ProbeResult>> devices;
  for (const ProbeResult& result : results) {
    if (result.peer < 0) devices[result.rank].push_back(result);
  }
  return devices;
}

// `device`: "va-3/2", or "va-3" of a host with one.
void add_device(EqualDevices& equals, const std::string& device, const std::string& type,
                const std::vector<ProbeResult>& results) {
  const auto add = [&](const std::string& what, const ProbeResult* result) {
    if (result != nullptr && result->value > 0)
      equals[what + " of " + type].push_back({device, result->value, result->spread_fraction});
  };
  add("memory bandwidth", find_value(results, "memory/read"));
  add("link to the host", find_value(results, "host/to_device/pinned"));
  add("link from the host", find_value(results, "host/from_device/pinned"));
  for (int number = 0; number < kPrecisionCount; ++number) {
    const auto precision = static_cast<Precision>(number);
    add("GEMM " + std::string(name_of(precision)), peak_gemm(results, precision));
  }
}

void add_devices(EqualDevices& equals, const HostOutcome& host) {
  const Cluster cluster = parse_document<Cluster>(host.devices->cluster.dump()).content;
  const std::map<int, std::vector<ProbeResult>> devices = by_device(host.devices->results);
  if (devices.empty()) return add_medians(equals, host.host.name, cluster);
  const std::string& type = cluster.nodes().front().device_type;
  for (const auto& [number, results] : devices) {
    add_device(equals, host.host.name + (devices.size() > 1 ? "/" + std::to_string(number) : ""), type,
               results);
  }
}

EqualDevices equal_devices(const FleetRecord& fleet) {
  EqualDevices equals;
  for (const HostOutcome& host : fleet.hosts) {
    if (!host.devices) continue;
    try {
      add_devices(equals, host);
    } catch (const Error&) {  // the cluster document says that it makes no sense
    }
  }
  return equals;
}

using EqualPlaces = std::map<std::pair<std::string, std::string>, EqualLinks>;  // a node, or one or two zones

// Round trips of hosts side by side differ by what the kernel does; between zones also by the way.
constexpr double kOddRoundTripFraction = 0.25;

EqualPlaces equal_links(const FleetRecord& fleet) {
  const LinkQuantity bandwidth{"bandwidth", true, {}};
  const LinkQuantity round_trip{"round trip", false, {.practical_fraction = kOddRoundTripFraction}};
  std::map<std::string, std::string> zone_of;
  for (const HostOutcome& host : fleet.hosts) zone_of[host.host.name] = host.host.zone;
  std::map<std::pair<std::string, std::string>, const PairMeasurement*> latest;
  for (const PairMeasurement& pair : fleet.pairs) latest[std::minmax(pair.from, pair.to)] = &pair;
  EqualPlaces places;
  for (const auto& [names, pair] : latest) {
    const std::pair<std::string, std::string> zones = std::minmax(zone_of[pair->from], zone_of[pair->to]);
    const std::string where = zones.first == zones.second
                                  ? "in zone " + zones.first
                                  : "between zones " + zones.first + " and " + zones.second;
    EqualLinks& equals = places.try_emplace(zones, where).first->second;
    const StreamRate& there = *pair->rate(Direction::there, 1);
    const StreamRate& back = *pair->rate(Direction::back, 1);
    equals.add(bandwidth, pair->from, pair->to, there.bytes_per_s, there.spread_fraction);
    equals.add(bandwidth, pair->to, pair->from, back.bytes_per_s, back.spread_fraction);
    equals.add(round_trip, pair->from, pair->to, pair->round_trips.median_s, pair->round_trips.spread_fraction);
  }
  std::erase_if(places, [](const auto& place) { return !place.second.is_enough(); });
  return places;
}

EqualPlaces equal_links(const std::vector<PlacedRank>& ranks,
                        const std::vector<LinkMeasurement>& measurements) {
  EqualPlaces places;
  for (const LinkMeasurement& link : measurements) {
    if (!link.fit) continue;
    const PlacedRank& low = ranks[static_cast<std::size_t>(link.pair.low)];
    const PlacedRank& high = ranks[static_cast<std::size_t>(link.pair.high)];
    const bool is_node = low.node == high.node;
    if (!is_node && (low.zone != high.zone || low.region != high.region)) continue;
    const std::string name = is_node ? "node " + low.node : "zone " + low.zone;
    EqualLinks& equals = places.try_emplace({name, ""}, "in " + name).first->second;
    const std::string &from = is_node ? low.device : low.node, &to = is_node ? high.device : high.node;
    equals.add({"bandwidth"}, from, to, link.fit->bytes_per_s, link.fit->bytes_per_s_spread_fraction);
    equals.add({"latency"}, from, to, link.fit->latency_s, link.fit->latency_spread_fraction);
  }
  return places;
}

std::vector<std::string> describe(const EqualPlaces& places) {
  std::vector<std::string> sentences;
  for (const auto& [names, equals] : places) append(sentences, equals.describe_outliers());
  return sentences;
}

}  // namespace

std::vector<std::string> describe_odd_links(const std::vector<PlacedRank>& ranks,
                                            const std::vector<LinkMeasurement>& measurements) {
  return describe(equal_links(ranks, measurements));
}

std::vector<std::string> describe_outliers(const FleetRecord& fleet) {
  std::vector<std::string> sentences;
  for (const auto& [what, equals] : equal_devices(fleet)) {
    const OddOnes found = find_odd_ones(equals, {.practical_fraction = kOddDeviceFraction});
    for (const OddOne& odd : found.odd) sentences.push_back(what + ": " + describe(odd));
    for (const OddOne& odd : found.doubtful) sentences.push_back(what + ": perhaps " + describe(odd));
    if (!found.caveat.empty()) sentences.push_back(what + ": " + found.caveat);
  }
  append(sentences, describe(equal_links(fleet)));
  return sentences;
}

}  // namespace sextant::inline probes
