#include "probes/fleet/fleet_outliers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "documents/values/names.h"
#include "probes/assembly/cluster_assembly.h"
#include "probes/outliers/outlier_links.h"
#include "probes/outliers/outliers.h"
#include "sextant/cluster.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant {
namespace {

using Equals = std::map<std::string, std::vector<NamedValue>>;  // by what is compared

// Adds the medians of a host that reported no samples.
void add_medians(Equals& equals, const std::string& host, const Cluster& cluster) {
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

using Results = std::vector<ProbeResult>;

std::map<int, Results> by_device(const Results& results) {
  std::map<int, Results> devices;
  for (const ProbeResult& result : results) {
    if (result.peer < 0) devices[result.rank].push_back(result);
  }
  return devices;
}

const ProbeResult* find(const Results& results, const std::string& name) {
  const auto found = std::find_if(results.begin(), results.end(), [&](const ProbeResult& result) {
    return result.name == name && result.has_value();
  });
  return found == results.end() ? nullptr : &*found;
}

// `device`: "va-3/2", or "va-3" of a host with one.
void add_device(Equals& equals, const std::string& device, const std::string& type, const Results& results) {
  const auto add = [&](const std::string& what, const ProbeResult* result) {
    if (result != nullptr && result->value > 0)
      equals[what + " of " + type].push_back({device, result->value, result->spread_fraction});
  };
  add("memory bandwidth", find(results, "memory/read"));
  add("link to the host", find(results, "host/to_device/pinned"));
  add("link from the host", find(results, "host/from_device/pinned"));
  for (int number = 0; number < kPrecisionCount; ++number) {
    const auto precision = static_cast<Precision>(number);
    add("GEMM " + std::string(name_of(precision)), peak_gemm(results, precision));
  }
}

void add_devices(Equals& equals, const HostOutcome& host) {
  const Cluster cluster = parse_document<Cluster>(compact(host.devices->cluster)).content;
  const std::map<int, Results> devices = by_device(host.devices->results);
  if (devices.empty()) return add_medians(equals, host.host.name, cluster);
  const std::string& type = cluster.nodes().front().device_type;
  for (const auto& [number, results] : devices) {
    add_device(equals, host.host.name + (devices.size() > 1 ? "/" + std::to_string(number) : ""), type,
               results);
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

// Pairs that are equals: within one zone, or between the same two.
struct OddPairClass {
  std::string name;  // "in zone use1a", "between zones use1a and use2a"
  std::vector<std::string> hosts;
  std::map<std::string, std::size_t> number_of;  // in `hosts`
  std::vector<PairRate> rates, round_trips;

  std::size_t number(const std::string& host) {
    const auto [found, is_new] = number_of.try_emplace(host, hosts.size());
    if (is_new) hosts.push_back(host);
    return found->second;
  }
};

OddPairClass& class_of(std::map<std::pair<std::string, std::string>, OddPairClass>& classes,
                       const std::string& zone, const std::string& other) {
  const std::pair<std::string, std::string> zones = std::minmax(zone, other);
  OddPairClass& found = classes[zones];
  found.name = zone == other ? "in zone " + zone : "between zones " + zones.first + " and " + zones.second;
  return found;
}

std::map<std::pair<std::string, std::string>, OddPairClass> classes_of(const FleetOutcome& outcome) {
  std::map<std::pair<std::string, std::string>, OddPairClass> classes;
  std::map<std::string, std::string> zone_of;
  for (const HostOutcome& host : outcome.hosts) zone_of[host.host.name] = host.host.zone;
  std::map<std::pair<std::string, std::string>, const PairMeasurement*> latest;
  for (const PairMeasurement& pair : outcome.pairs) latest[std::minmax(pair.from, pair.to)] = &pair;
  for (const auto& [names, pair] : latest) {
    OddPairClass& equals = class_of(classes, zone_of[pair->from], zone_of[pair->to]);
    const std::size_t from = equals.number(pair->from), to = equals.number(pair->to);
    const StreamRate& there = *pair->rate(Direction::there, 1);
    const StreamRate& back = *pair->rate(Direction::back, 1);
    equals.rates.push_back({from, to, there.bytes_per_s, there.spread_fraction});
    equals.rates.push_back({to, from, back.bytes_per_s, back.spread_fraction});
    equals.round_trips.push_back({from, to, pair->round_trips.median_s, pair->round_trips.spread_fraction});
  }
  return classes;
}

// Round trips of hosts side by side differ by what the kernel does; between zones also by the way.
constexpr double kOddRoundTripFraction = 0.25;

// Whether there are enough values to know what they have in common.
bool is_enough(const OddPairClass& equals) {
  constexpr std::size_t kFewestHosts = 4;
  return equals.hosts.size() >= kFewestHosts && equals.round_trips.size() >= equals.hosts.size();
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
  for (const auto& [zones, equals] : classes_of(outcome)) {
    if (!is_enough(equals)) continue;
    for (const OddLink& odd : find_odd_links(equals.hosts, equals.rates)) {
      sentences.push_back("bandwidth " + equals.name + ": " + describe(odd));
    }
    const OddRule round_trips{.practical_fraction = kOddRoundTripFraction};
    for (const OddLink& odd : find_odd_links(equals.hosts, equals.round_trips, round_trips)) {
      sentences.push_back("round trip " + equals.name + ": " + describe(odd));
    }
  }
  return sentences;
}

}  // namespace sextant
