// A small cluster to change: nodes a and b of four devices each in one zone.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sextant/cluster.h"

namespace sextant {

inline LinkRate rate_of(double bytes_per_s, double latency_s = 5e-6) {
  return {measured(latency_s, 0.02), measured(bytes_per_s, 0.01)};
}

struct ClusterParts {
  std::map<std::string, DeviceType> types;
  std::vector<Node> nodes;
  std::map<LinkLevel, LinkRate> levels;
  std::vector<LinkException> exceptions;
  std::map<std::string, std::string> environment;

  [[nodiscard]] Document<Cluster> document() const {
    Cluster cluster("lab", types, nodes, levels, exceptions);
    cluster.set_environment(environment);
    return {{"sextant 0", "probe", "2026-01-31T12:00:00Z", "host"}, cluster};
  }
  [[nodiscard]] Cluster cluster() const { return document().content; }
};

inline ClusterParts two_nodes() {
  ClusterParts parts;
  DeviceType type;
  type.memory_bytes = measured(80e9, 0);
  type.memory_bytes_per_s = measured(3e12, 0.01);
  type.flop_per_s[Precision::bf16] = measured(600e12, 0.01);
  type.host_bytes_per_s = measured(50e9, 0.01);
  type.measurements["launch/kernel"] = {"s", measured(5e-6, 0.01)};
  parts.types = {{"h100", type}};
  for (const char* name : {"a", "b"}) {
    Node node;
    node.name = name;
    node.region = "east";
    node.zone = "rack";
    node.device_type = "h100";
    node.devices = 4;
    node.host_memory_bytes = 1e12;
    parts.nodes.push_back(node);
  }
  parts.levels = {{LinkLevel::within_node, rate_of(400e9)}, {LinkLevel::within_zone, rate_of(12.1e9)}};
  return parts;
}

}  // namespace sextant
