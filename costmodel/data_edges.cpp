#include "costmodel/data_edges.h"

#include <algorithm>

namespace sextant {
namespace {

constexpr double kInferenceBytesPerToken = 4;  // one number in fp32

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Tasks whose results this one needs, also through others. Tasks stand in an order that respects `after`.
std::vector<bool> ancestors_of(const Workflow& workflow, std::size_t task) {
  std::vector<bool> is_ancestor(workflow.tasks.size(), false);
  std::vector<bool> is_reached(workflow.tasks.size(), false);
  is_reached[task] = true;
  for (std::size_t t = task + 1; t-- > 0;) {
    if (!is_reached[t]) continue;
    for (std::size_t p = 0; p < t; ++p) {
      if (contains(workflow.tasks[t].after, workflow.tasks[p].name)) is_reached[p] = is_ancestor[p] = true;
    }
  }
  return is_ancestor;
}

bool is_in_zone_of(const Node& one, const Node& other) {
  return one.zone == other.zone && one.region == other.region;
}

}  // namespace

std::vector<terms::DataZone> terms::data_zones(const Cluster& cluster, std::span<const DeviceId> made,
                                               std::span<const DeviceId> needed) {
  std::vector<DataZone> zones;
  std::vector<const Node*> nodes;  // one of each zone
  const auto zone_of = [&](DeviceId device) -> DataZone& {
    const Node& node = cluster.nodes()[cluster.node_of(device).index()];
    for (std::size_t z = 0; z < zones.size(); ++z) {
      if (is_in_zone_of(*nodes[z], node)) return zones[z];
    }
    nodes.push_back(&node);
    return zones.emplace_back();
  };
  for (const DeviceId device : made) {
    DataZone& zone = zone_of(device);
    if (zone.made++ == 0) zone.made_example = device;
  }
  for (const DeviceId device : needed) {
    DataZone& zone = zone_of(device);
    if (zone.needed++ == 0) zone.needed_example = device;
  }
  return zones;
}

std::vector<DataEdge> costmodel::data_edges(const Workflow& workflow, const Cluster& cluster) {
  std::vector<DataEdge> edges;
  const Node& first = cluster.nodes().front();
  const bool has_zones = std::any_of(cluster.nodes().begin(), cluster.nodes().end(),
                                     [&](const Node& node) { return !is_in_zone_of(node, first); });
  if (workflow.data_bytes_per_token <= 0 || !has_zones) return edges;
  const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const double tokens = workflow.sequences() * (workflow.prompt_tokens.mean_tokens() +
                                                workflow.response_tokens.mean_tokens() + observed);
  for (std::size_t needed = 0; needed < workflow.tasks.size(); ++needed) {
    const std::vector<bool> is_ancestor = ancestors_of(workflow, needed);
    for (std::size_t made = 0; made < needed; ++made) {
      const TaskKind kind = workflow.tasks[made].kind;
      if (!is_ancestor[made] || kind == TaskKind::training) continue;
      const double per_token =
          kind == TaskKind::generation ? workflow.data_bytes_per_token : kInferenceBytesPerToken;
      edges.push_back({made, needed, tokens * per_token});
    }
  }
  return edges;
}

}  // namespace sextant
