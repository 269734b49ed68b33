// A host whose devices are its cores, as the proxy runs on.
#pragma once

#include <string>

#include "sextant/cluster.h"

namespace sextant::test {

inline Cluster host_of_cores(const std::string& name, int cores) {
  DeviceType core;
  core.kind = DeviceKind::cpu;
  core.memory_bytes = assumed(8e9);
  core.memory_bytes_per_s = assumed(1e10);
  core.flop_per_s[Precision::fp32] = assumed(5e10);
  Node node;
  node.name = "host";
  node.region = "here";
  node.zone = "here";
  node.device_type = "core";
  node.devices = cores;
  return Cluster(name, {{"core", core}}, {node}, {{LinkLevel::within_node, {assumed(1e-6), assumed(5e9)}}});
}

}  // namespace sextant::test
