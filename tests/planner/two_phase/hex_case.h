// The cluster of AReaL-Hex: rates and links of section 4.4, prices of section 3, memory from datasheets.
#pragma once

#include "tests/planner/planning_case.h"

namespace sextant::test {

inline void add_machines(std::vector<Node>& nodes, const std::string& type, int count, int devices,
                         double inner_bytes_per_s) {
  for (int i = 0; i < count; ++i) {
    Node node;
    node.name = type + "-" + std::to_string(i);
    node.region = "r1";
    node.zone = type;  // the network between different machines is slower
    node.device_type = type;
    node.devices = devices;
    node.link = LinkRate{assumed(5e-6), assumed(inner_bytes_per_s)};
    nodes.push_back(node);
  }
}

// Machines of each type, with this number of devices.
inline Cluster hex_cluster(int h800, int h20, int devices = 8) {
  DeviceType fast = gpu_type(756, 2000, 80), wide = gpu_type(148, 4000, 96);
  fast.price_usd_per_hour = assumed(5.28);
  wide.price_usd_per_hour = assumed(1.85);
  std::vector<Node> nodes;
  add_machines(nodes, "h800", h800, devices, 200e9);
  add_machines(nodes, "h20", h20, devices, 450e9);
  const auto rate = [](double latency_s, double bytes_per_s) {
    return LinkRate{assumed(latency_s), assumed(bytes_per_s)};
  };
  return Cluster("hex", {{"h800", fast}, {"h20", wide}}, nodes,
                 {{LinkLevel::within_node, rate(5e-6, 200e9)},
                  {LinkLevel::within_zone, rate(15e-6, 5e9)},
                  {LinkLevel::within_region, rate(50e-6, 1.5e9)}});
}

// Four tasks on 8B models: 64 prompts, 8 responses each.
inline Workflow hex_grpo(Mode mode = Mode::asynchronous) {
  Workflow workflow = ppo_8b(mode);
  workflow.name = "grpo-8b";
  workflow.algorithm = Algorithm::grpo;
  workflow.tasks = grpo_tasks(true);
  std::map<std::string, Model> models;
  for (const Task& task : workflow.tasks) models[task.model] = workflow.models.at(task.model);
  workflow.models = std::move(models);
  workflow.prompts = 64;
  workflow.responses_per_prompt = 8;
  return workflow;
}

}  // namespace sextant::test
