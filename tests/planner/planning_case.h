// Clusters and workflows of realistic size: 8B models on GPUs with the numbers of their datasheets.
#pragma once

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "planner/request/shapes.h"
#include "sextant/cluster.h"
#include "sextant/workflow.h"

namespace sextant::test {

inline DeviceType gpu_type(double tera_flop_per_s, double giga_bytes_per_s, double giga_bytes) {
  DeviceType type;
  type.kind = DeviceKind::gpu;
  type.memory_bytes = assumed(giga_bytes * 1e9);
  type.memory_bytes_per_s = assumed(giga_bytes_per_s * 1e9);
  type.flop_per_s[Precision::bf16] = assumed(tera_flop_per_s * 1e12);
  return type;
}

struct Machines {
  std::string type;
  int count = 1;
  int devices = 8;
  std::string zone = "z1";
  std::string region = "r1";
};

inline Cluster cluster_of(const std::vector<Machines>& groups, std::vector<LinkException> exceptions = {}) {
  const auto rate = [](double latency_s, double bytes_per_s) {
    return LinkRate{assumed(latency_s), assumed(bytes_per_s)};
  };
  std::vector<Node> nodes;
  for (const Machines& group : groups) {
    for (int i = 0; i < group.count; ++i) {
      Node node;
      node.name = group.type + "-" + group.zone + "-" + std::to_string(i);
      node.region = group.region;
      node.zone = group.zone;
      node.device_type = group.type;
      node.devices = group.devices;
      nodes.push_back(node);
    }
  }
  return Cluster(
      "planned",
      {{"a100", gpu_type(312, 2039, 80)}, {"l40s", gpu_type(362, 864, 48)}, {"l4", gpu_type(121, 300, 24)}},
      nodes,
      {{LinkLevel::within_node, rate(5e-6, 200e9)},
       {LinkLevel::within_zone, rate(15e-6, 12.5e9)},
       {LinkLevel::within_region, rate(1e-3, 1.25e9)},
       {LinkLevel::between_regions, rate(30e-3, 0.25e9)}},
      std::move(exceptions));
}

// 24 A100, 24 L40S, 16 L4 in two zones of one region and another region.
inline Cluster mixed_64() {
  return cluster_of({{"a100", 3}, {"l40s", 2}, {"l40s", 1, 8, "z2"}, {"l4", 2, 8, "z3", "r2"}});
}

inline Model model_8b() {
  Model model;
  model.name = "8b";
  model.layers = 32;
  model.hidden = 4096;
  model.intermediate = 14336;
  model.heads = 32;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.vocabulary = 128256;
  return model;
}

inline Model model_14b() {
  Model model = model_8b();
  model.name = "14b";
  model.layers = 40;
  model.hidden = 5120;
  model.intermediate = 17408;
  model.heads = 40;
  model.vocabulary = 151936;
  return model;
}

inline Workflow ppo_of(const Model& base, Mode mode) {
  Workflow workflow;
  workflow.name = "ppo-" + base.name;
  workflow.algorithm = Algorithm::ppo;
  workflow.mode = mode;
  workflow.staleness = mode == Mode::synchronous ? 0 : 1;
  workflow.tasks = ppo_tasks();
  for (const Task& task : workflow.tasks) {
    Model model = base;
    model.value_head = task.model == "critic" || task.model == "reward";
    workflow.models[task.model] = model;
  }
  workflow.prompts = 256;
  workflow.prompt_tokens = fixed_length(1024);
  workflow.response_tokens = fixed_length(1024);
  workflow.mini_batches = 4;
  workflow.precision = Precision::bf16;
  return workflow;
}

inline Workflow ppo_8b(Mode mode = Mode::synchronous) { return ppo_of(model_8b(), mode); }
inline Workflow ppo_14b(Mode mode = Mode::synchronous) { return ppo_of(model_14b(), mode); }

// Random devices in random order for a task, and a shape for their number.
inline Placement random_placement(std::mt19937& random, Evaluator& evaluator, int task,
                                  const Workflow& workflow, const Cluster& cluster,
                                  const ShapeLimits& limits = {}) {
  std::vector<std::uint16_t> devices(static_cast<std::size_t>(cluster.device_count()));
  std::iota(devices.begin(), devices.end(), std::uint16_t{0});
  if (random() % 2 == 0) std::shuffle(devices.begin(), devices.end(), random);
  std::vector<Shape> shapes;
  const auto t = static_cast<std::size_t>(task);
  while (shapes.empty()) {
    const int count = 1 + static_cast<int>(random() % static_cast<unsigned>(cluster.device_count()));
    shapes = shapes_of(workflow.tasks[t], workflow, count, limits);
  }
  Shape shape = shapes[random() % shapes.size()];
  const bool knows_lengths =
      workflow.tasks[t].kind != TaskKind::generation && !evaluator.sorted_lengths().is_fixed();
  if (knows_lengths && random() % 4 != 0) {
    shape.length_ranks.reserve(shape.sequences.size());
    for (int i = 0; i < shape.data_parallel(); ++i)
      shape.length_ranks.push_back(static_cast<int>(random() % 3));
  }
  const auto spare = static_cast<std::size_t>(cluster.device_count() - shape.devices());
  const std::size_t first = spare == 0 ? 0 : random() % (spare + 1);
  Placement placement;
  placement.shape = evaluator.shapes(task).add(shape);
  placement.devices.assign(devices.begin() + static_cast<std::ptrdiff_t>(first),
                           devices.begin() + static_cast<std::ptrdiff_t>(first) + shape.devices());
  return placement;
}

inline Candidate random_candidate(std::mt19937& random, Evaluator& evaluator, const Workflow& workflow,
                                  const Cluster& cluster, const ShapeLimits& limits = {}) {
  Candidate candidate;
  for (int t = 0; t < evaluator.task_count(); ++t)
    candidate.tasks.push_back(random_placement(random, evaluator, t, workflow, cluster, limits));
  return candidate;
}

}  // namespace sextant::test
