#include "probes/assembly/fleet_cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/units.h"
#include "probes/assembly/cluster_assembly.h"
#include "probes/assembly/link_capacities.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// A host that will be a node.
struct FleetMember {
  const HostOutcome* host = nullptr;
  Cluster cluster;  // of this host alone
};

std::vector<FleetMember> members_of(const FleetRecord& outcome, std::vector<std::string>& warnings) {
  std::vector<FleetMember> members;
  for (const HostOutcome& host : outcome.hosts) {
    if (!host.why_lost.empty() || !host.devices) {
      warnings.push_back(host.host.name + " is not in the cluster document: " +
                         (host.why_lost.empty() ? "its devices were not measured" : "it " + host.why_lost));
      continue;
    }
    try {
      members.push_back({&host, parse_document<Cluster>(host.devices->cluster.dump()).content});
    } catch (const Error& error) {
      warnings.push_back(host.host.name +
                         " is not in the cluster document: its measurements are invalid: " + error.what());
    }
  }
  return members;
}

// The median, with what hosts differ by where that is more than each is unsure of.
Quantity merge(const std::vector<Quantity>& quantities) {
  if (quantities.size() == 1) return quantities.front();
  std::vector<double> values, spreads;
  for (const Quantity& quantity : quantities) {
    values.push_back(quantity.value);
    spreads.push_back(quantity.spread_fraction.value_or(0));
  }
  Quantity merged = quantities.front();
  const Quantity middle = median_quantity(values, spreads, "");
  merged.value = middle.value;
  merged.spread_fraction = middle.spread_fraction;
  const std::string note = merged.note.value_or("");
  merged.note = (note.empty() ? "" : note + "; ") + ("median of " + std::to_string(values.size()) + " hosts");
  return merged;
}

// The merged quantity of the types that have it.
std::optional<Quantity> merge_some(const std::vector<DeviceType>& types,
                                   std::optional<Quantity> DeviceType::*member) {
  std::vector<Quantity> found;
  for (const DeviceType& type : types) {
    if (type.*member) found.push_back(*(type.*member));
  }
  if (found.empty()) return std::nullopt;
  return merge(found);
}

std::map<std::string, DeviceType> types_of(const std::vector<FleetMember>& members) {
  std::map<std::string, std::vector<DeviceType>> by_name;
  for (const FleetMember& member : members) {
    for (const auto& [name, type] : member.cluster.device_types()) by_name[name].push_back(type);
  }
  std::map<std::string, DeviceType> types;
  for (const auto& [name, same] : by_name) types[name] = merge_device_types(same);
  return types;
}

// The level within a node, and links of nodes that differ from it.
std::optional<LinkRate> merge_inner_links(const std::vector<FleetMember>& members, std::vector<Node>& nodes) {
  std::vector<Quantity> latencies, rates;
  std::vector<std::optional<LinkRate>> own;
  for (const FleetMember& member : members) {
    const auto inner = member.cluster.levels().find(LinkLevel::within_node);
    own.push_back(inner == member.cluster.levels().end() ? std::nullopt : std::optional(inner->second));
    if (!own.back()) continue;
    latencies.push_back(own.back()->latency_s);
    rates.push_back(own.back()->bytes_per_s);
  }
  if (latencies.empty()) return std::nullopt;
  const LinkRate usual{merge(latencies), merge(rates)};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (own[i] && is_odd(*own[i], usual)) nodes[i].link = own[i];
  }
  return usual;
}

Node node_of(const FleetMember& member) {
  Node node = member.cluster.nodes().front();
  node.name = member.host->host.name;
  node.region = member.host->host.region;
  node.zone = member.host->host.zone;
  return node;
}

// The input of the models and the links.
struct Pairs {
  std::vector<HostPlace> places;
  std::vector<MeasuredPair> measured;
};

Pairs pairs_of(const std::vector<FleetMember>& members, const FleetRecord& outcome, int sockets) {
  Pairs pairs;
  std::map<std::string, int> number_of;
  for (const FleetMember& member : members) {
    const Host& host = member.host->host;
    number_of[host.name] = static_cast<int>(pairs.places.size());
    pairs.places.push_back({host.name, host.region, host.zone});
  }
  std::map<RankPair, std::pair<LinkRate, int>> latest;
  for (const PairMeasurement& pair : outcome.pairs) {
    const auto from = number_of.find(pair.from), to = number_of.find(pair.to);
    const auto rate = link_rate(pair, sockets);
    if (from == number_of.end() || to == number_of.end() || !rate) continue;
    latest[{std::min(from->second, to->second), std::max(from->second, to->second)}] = {*rate, pair.round};
  }
  for (const auto& [pair, rate] : latest) pairs.measured.push_back({pair, rate.first, rate.second});
  return pairs;
}

PairModel model_of(const Pairs& pairs, PairQuantity quantity) {
  std::vector<PairSample> samples;
  for (const MeasuredPair& pair : pairs.measured) {
    const Quantity& value = quantity == PairQuantity::latency_s ? pair.rate.latency_s : pair.rate.bytes_per_s;
    samples.push_back({pair.pair, value.value, value.spread_fraction.value_or(0)});
  }
  return PairModel::fit(pairs.places, samples, quantity);
}

// Each host is probed for itself, so what differs between them shows nowhere else.
void warn_of_settings(const std::vector<FleetMember>& members, std::vector<std::string>& warnings) {
  std::vector<std::pair<std::string, NetworkSettings>> of_hosts;
  for (const FleetMember& member : members) {
    of_hosts.emplace_back(member.host->host.name, member.cluster.environment());
  }
  for (const auto& [name, by_value] : different_settings(of_hosts)) {
    std::string seen;
    for (const auto& [value, hosts] : by_value) {
      const std::string others = hosts.size() > 1 ? " and " + std::to_string(hosts.size() - 1) + " more" : "";
      seen += (seen.empty() ? "" : ", ") + value + " on " + hosts.front() + others;
    }
    warnings.push_back(name + " is not the same on all hosts (" + seen +
                       "): ranks may fail to connect; the cluster document has the value of " +
                       members.front().host->host.name);
  }
}

void warn_of_estimates(const FleetCluster& fleet, const Pairs& pairs, std::vector<std::string>& warnings) {
  const double all =
      0.5 * static_cast<double>(pairs.places.size()) * static_cast<double>(pairs.places.size() - 1);
  if (static_cast<double>(pairs.measured.size()) >= all) return;
  const std::string measured =
      std::to_string(pairs.measured.size()) + " of " + format_number(all) + " pairs were measured";
  std::string text;
  for (const auto& [level, name] :
       {std::pair(LinkLevel::within_zone, "a zone"), std::pair(LinkLevel::within_region, "a region"),
        std::pair(LinkLevel::between_regions, "different regions")}) {
    const auto latency = fleet.latency->log_error_90(level), rate = fleet.bandwidth->log_error_90(level);
    if (!latency || !rate) continue;
    text += " " + format_percent(std::expm1(*latency), 0) + " of the latency and " +
            format_percent(std::expm1(*rate), 0) + " of the bandwidth in " + name + ";";
  }
  if (text.empty()) {
    warnings.push_back(measured + "; too few to estimate the error of the estimates for the others");
    return;
  }
  text.pop_back();
  warnings.push_back(measured + "; 90 % of the others are expected within" + text +
                     " (cross-validated on measured pairs)");
}

}  // namespace

DeviceType merge_device_types(const std::vector<DeviceType>& types) {
  DeviceType merged = types.front();
  const auto each = [&](Quantity DeviceType::*member) {
    std::vector<Quantity> all;
    all.reserve(types.size());
    for (const DeviceType& type : types) all.push_back(type.*member);
    return merge(all);
  };
  merged.memory_bytes = each(&DeviceType::memory_bytes);
  merged.memory_bytes_per_s = each(&DeviceType::memory_bytes_per_s);
  merged.host_bytes_per_s = merge_some(types, &DeviceType::host_bytes_per_s);
  std::map<Precision, std::vector<Quantity>> rates;
  std::map<std::string, std::vector<Quantity>> others;
  for (const DeviceType& type : types) {
    for (const auto& [precision, rate] : type.flop_per_s) rates[precision].push_back(rate);
    for (const auto& [name, measurement] : type.measurements) {
      others[name].push_back(measurement.quantity);
      merged.measurements[name].unit = measurement.unit;
    }
  }
  for (const auto& [precision, values] : rates) merged.flop_per_s[precision] = merge(values);
  for (const auto& [name, values] : others) merged.measurements[name].quantity = merge(values);
  return merged;
}

std::optional<LinkRate> link_rate(const PairMeasurement& pair, int sockets) {
  const StreamRate* there = pair.rate(Direction::there, sockets);
  const StreamRate* back = pair.rate(Direction::back, sockets);
  if (there == nullptr || back == nullptr) return std::nullopt;
  const auto usable = [&](const StreamRate& rate) {
    return sockets == 1 ? rate.bytes_per_s : rate.slowest_bytes_per_s * sockets;
  };
  const StreamRate& slower = usable(*there) < usable(*back) ? *there : *back;
  if (usable(slower) <= 0) return std::nullopt;
  return LinkRate{
      measured(pair.round_trips.median_s / 2, pair.round_trips.spread_fraction,
               "half the median round trip of messages over TCP"),
      measured(usable(slower), slower.spread_fraction,
               sockets == 1 ? "one TCP stream" : "the slowest of several TCP streams times their number")};
}

FleetCluster assemble_fleet_cluster(const std::string& name, const FleetRecord& outcome, int sockets) {
  FleetCluster fleet;
  const std::vector<FleetMember> members = members_of(outcome, fleet.warnings);
  if (members.empty()) {
    fleet.failure_reason = "devices were not measured on any host";
    return fleet;
  }
  std::vector<Node> nodes;
  nodes.reserve(members.size());
  for (const FleetMember& member : members) nodes.push_back(node_of(member));
  std::map<LinkLevel, LinkRate> levels;
  if (const auto inner = merge_inner_links(members, nodes)) levels[LinkLevel::within_node] = *inner;
  const Pairs pairs = pairs_of(members, outcome, sockets);
  FleetLinks links;
  if (members.size() > 1) {
    if (pairs.measured.empty()) {
      fleet.failure_reason = "no pair of hosts with measured devices was measured";
      return fleet;
    }
    fleet.latency = model_of(pairs, PairQuantity::latency_s);
    fleet.bandwidth = model_of(pairs, PairQuantity::bytes_per_s);
    links = assemble_fleet_links(pairs.places, pairs.measured, *fleet.latency, *fleet.bandwidth);
    fleet.warnings.insert(fleet.warnings.end(), links.warnings.begin(), links.warnings.end());
    warn_of_estimates(fleet, pairs, fleet.warnings);
  }
  for (std::size_t i = 0; i < links.network_bytes_per_s.size(); ++i) {
    nodes[i].network_bytes_per_s = links.network_bytes_per_s[i];
  }
  const bool share = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.devices > 1; });
  if (!links.levels.empty()) add_capacities(pairs.places, pairs.measured, share, links);
  levels.insert(links.levels.begin(), links.levels.end());
  fleet.cluster =
      Cluster(name, types_of(members), std::move(nodes), std::move(levels), std::move(links.exceptions));
  fleet.cluster->set_environment(members.front().cluster.environment());
  warn_of_settings(members, fleet.warnings);
  return fleet;
}

}  // namespace sextant::inline probes
