#include "probes/fleet/compare/cluster_difference.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "probes/fleet/compare/link_difference.h"

namespace sextant::inline probes {
namespace {

using ValuePairs = std::vector<ValuePair>;

template <typename Map>
auto find_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::optional<typename Map::mapped_type>() : found->second;
}

template <typename Map>
std::set<typename Map::key_type> keys_of(const Map& before, const Map& after) {
  std::set<typename Map::key_type> keys;
  for (const Map* side : {&before, &after}) {
    for (const auto& [key, value] : *side) keys.insert(key);
  }
  return keys;
}

void compare_rates(const std::string& where, const DeviceType& before, const DeviceType& after,
                   ValuePairs& out) {
  for (const Precision precision : keys_of(before.flop_per_s, after.flop_per_s)) {
    out.push_back({where, std::string(name_of(precision)) + " GEMM rate", "flop/s",
                   find_in(before.flop_per_s, precision), find_in(after.flop_per_s, precision)});
  }
  out.push_back({where, "memory read rate", "bytes/s", before.memory_bytes_per_s, after.memory_bytes_per_s});
  out.push_back({where, "memory", "bytes", before.memory_bytes, after.memory_bytes});
  if (before.host_bytes_per_s || after.host_bytes_per_s) {
    out.push_back({where, "rate to the host", "bytes/s", before.host_bytes_per_s, after.host_bytes_per_s});
  }
  for (const std::string& name : keys_of(before.measurements, after.measurements)) {
    const auto was = find_in(before.measurements, name), is = find_in(after.measurements, name);
    const bool is_same_unit = !was || !is || was->unit == is->unit;
    if (!is_same_unit) continue;  // another probe by the same name
    out.push_back({where, name, was ? was->unit : is->unit, was ? std::optional(was->quantity) : std::nullopt,
                   is ? std::optional(is->quantity) : std::nullopt});
  }
}

// Types that both have; nodes say which devices are gone.
void compare_types(const Cluster& before, const Cluster& after, ValuePairs& out) {
  for (const auto& [name, type] : before.device_types()) {
    const auto is = after.device_types().find(name);
    if (is != after.device_types().end()) compare_rates("device type " + name, type, is->second, out);
  }
}

// A number that says nothing about how well it is known.
std::optional<Quantity> bare(std::optional<double> value) {
  return value ? std::optional(Quantity{*value, Source::measured, {}, {}, {}}) : std::nullopt;
}

// 0: there is no such node.
ValuePair device_counts(const std::string& node, int before, int after) {
  return {"node " + node, "devices", "devices", bare(before), bare(after)};
}

void compare_node(const Node& before, const Node& after, ValuePairs& out) {
  const std::string where = "node " + before.name;
  out.push_back(device_counts(before.name, before.devices, after.devices));
  if (before.host_memory_bytes || after.host_memory_bytes) {
    out.push_back(
        {where, "host memory", "bytes", bare(before.host_memory_bytes), bare(after.host_memory_bytes)});
  }
  if (before.network_bytes_per_s || after.network_bytes_per_s) {
    out.push_back(
        {where, "network", "bytes/s", bare(before.network_bytes_per_s), bare(after.network_bytes_per_s)});
  }
}

ValueChange renamed(const Node& node, const std::string& what, const std::string& was, const std::string& is) {
  return {"node " + node.name, what, "", {}, {}, {}, ChangeVerdict::changed, was + " before, " + is + " after"};
}

std::map<std::string, Node> nodes_of(const Cluster& cluster) {
  std::map<std::string, Node> nodes;
  for (const Node& node : cluster.nodes()) nodes[node.name] = node;
  return nodes;
}

void compare_nodes(const Cluster& before, const Cluster& after, ValuePairs& out,
                   std::vector<ValueChange>& renamings) {
  const auto were = nodes_of(before), are = nodes_of(after);
  for (const std::string& name : keys_of(were, are)) {
    const auto was = find_in(were, name), is = find_in(are, name);
    if (!was || !is) {
      out.push_back(device_counts(name, was ? was->devices : 0, is ? is->devices : 0));
      continue;
    }
    compare_node(*was, *is, out);
    if (was->region != is->region || was->zone != is->zone) {
      renamings.push_back(renamed(*is, "place", was->region + "/" + was->zone, is->region + "/" + is->zone));
    }
    if (was->device_type == is->device_type) continue;
    renamings.push_back(renamed(*is, "device type", was->device_type, is->device_type));
    compare_rates("node " + name, before.device_types().at(was->device_type),
                  after.device_types().at(is->device_type), out);
  }
}

std::vector<SettingChange> compare_settings(const Cluster& before, const Cluster& after) {
  std::vector<SettingChange> changes;
  for (const std::string& name : keys_of(before.environment(), after.environment())) {
    SettingChange change{name, find_in(before.environment(), name), find_in(after.environment(), name)};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

std::size_t ClusterDifference::count(ChangeVerdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      changes.begin(), changes.end(), [&](const ValueChange& change) { return change.verdict == verdict; }));
}

ClusterDifference compare_clusters(const Document<Cluster>& before, const Document<Cluster>& after,
                                   const ChangeRule& rule) {
  ValuePairs all;
  std::vector<ValueChange> renamings;
  compare_types(before.content, after.content, all);
  compare_nodes(before.content, after.content, all, renamings);
  for (ValuePair& link : compare_links(before.content, after.content)) all.push_back(std::move(link));
  // A document that was written by hand may have no time.
  const auto time_of = [](const Document<Cluster>& document) {
    return document.provenance.time_utc.empty() ? std::string("not stated") : document.provenance.time_utc;
  };
  ClusterDifference difference{{before.content.name(), time_of(before)},
                               {after.content.name(), time_of(after)},
                               rule.threshold_fraction,
                               rule.false_alarm_fraction,
                               judge_changes(all, rule),
                               compare_settings(before.content, after.content)};
  difference.changes.insert(difference.changes.end(), renamings.begin(), renamings.end());
  sort_worst_first(difference.changes);
  return difference;
}

}  // namespace sextant::inline probes
