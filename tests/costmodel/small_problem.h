// A small heterogeneous problem with numbers that can be computed by hand.
//
// Devices 0, 1 (node a): 100 FLOP/s, 50 B/s memory.   Link a-a: 1 s + n / 100.
// Devices 2, 3 (node b):  40 FLOP/s, 20 B/s memory.   Link b-b: 2 s + n / 50.   Link a-b: 5 s + n / 10.
// Model: 3 layers, h1 = 4, h2 = 8: a layer has 4 * 16 + 3 * 32 = 160 parameters. No vocabulary.
// Batch: 12 sequences of 3 + 5 = 8 tokens, bf16.
#pragma once

#include <string>
#include <vector>

#include "costmodel/iteration.h"
#include "sextant/plan.h"

namespace sextant::test {

inline LinkRate link_rate(double latency_s, double bytes_per_s) {
  return {assumed(latency_s), assumed(bytes_per_s)};
}

inline DeviceType device_type(double flop_per_s, double memory_bytes_per_s, double memory_bytes = 1e6) {
  DeviceType type;
  type.kind = DeviceKind::gpu;
  type.memory_bytes = assumed(memory_bytes);
  type.memory_bytes_per_s = assumed(memory_bytes_per_s);
  for (const Precision precision : {Precision::bf16, Precision::fp32})
    type.flop_per_s[precision] = assumed(flop_per_s);
  return type;
}

inline Node node(const std::string& name, const std::string& type, int devices) {
  Node node;
  node.name = name;
  node.region = "r";
  node.zone = "z";
  node.device_type = type;
  node.devices = devices;
  return node;
}

inline Cluster small_cluster() {
  Node a = node("a", "fast", 2), b = node("b", "slow", 2);
  b.link = link_rate(2, 50);
  return Cluster("small", {{"fast", device_type(100, 50)}, {"slow", device_type(40, 20)}}, {a, b},
                 {{LinkLevel::within_node, link_rate(1, 100)}, {LinkLevel::within_zone, link_rate(5, 10)}});
}

inline Model small_model(int vocabulary = 0) {
  Model model;
  model.name = "small";
  model.layers = 3;
  model.hidden = 4;
  model.intermediate = 8;
  model.heads = 4;
  model.kv_heads = 4;
  model.head_dim = 1;
  model.vocabulary = vocabulary;
  return model;
}

inline Workflow small_workflow(Mode mode = Mode::synchronous, int vocabulary = 0) {
  Workflow workflow;
  workflow.name = "small";
  workflow.algorithm = Algorithm::grpo;
  workflow.mode = mode;
  workflow.staleness = mode == Mode::synchronous ? 0 : 1;
  workflow.models["actor"] = small_model(vocabulary);
  workflow.models["reference"] = small_model(vocabulary);
  workflow.tasks = grpo_tasks(false);
  workflow.prompts = 4;
  workflow.responses_per_prompt = 3;
  workflow.prompt_tokens = fixed_length(3);
  workflow.response_tokens = fixed_length(5);
  workflow.precision = Precision::bf16;
  workflow.data_bytes_per_token = 0;  // as in the appendix
  return workflow;
}

inline Stage stage(int layers, const std::vector<int>& devices) {
  Stage stage{layers, {}};
  for (const int device : devices) stage.devices.push_back(DeviceId{device});
  return stage;
}

// One replica: two tensor-parallel layers on the fast devices, then one on a slow device; micro-batches of 3.
inline TaskPlan uneven_pipeline() {
  TaskPlan task;
  task.replicas = {{1.0, {stage(2, {0, 1}), stage(1, {2})}}};
  task.micro_batch_sequences = 3;
  return task;
}

// Two replicas, each a fast and a slow device.
inline TaskPlan two_replicas() {
  TaskPlan task;
  task.replicas = {{0.5, {stage(2, {0}), stage(1, {2})}}, {0.5, {stage(2, {1}), stage(1, {3})}}};
  task.micro_batch_sequences = 3;
  return task;
}

inline TaskPlan on_device(int device) {
  TaskPlan task;
  task.replicas = {{1.0, {stage(3, {device})}}};
  task.micro_batch_sequences = 3;
  return task;
}

// Owns everything that a Problem refers to.
template <typename T = double>
struct Case {
  Cluster cluster;
  Workflow workflow;
  Plan plan;
  Problem<T> problem;

  Case(Cluster the_cluster, Workflow the_workflow, Plan the_plan)
      : cluster(std::move(the_cluster)),
        workflow(std::move(the_workflow)),
        plan(std::move(the_plan)),
        problem(workflow, plan, Hardware<T>(cluster, workflow.precision),
                CoefficientValues<T>(static_cast<int>(cluster.device_types().size()))) {}
  Case(const Case&) = delete;

  [[nodiscard]] TaskWork work(const std::string& task) const {
    return work_of(workflow.task(task), plan.tasks.at(task), workflow, cluster);
  }
  void set(CoefficientId id, T value) {
    for (int type = 0; type < problem.hardware.type_count(); ++type) problem.coefficients.set(id, type, value);
  }
};

inline Plan plan_with(const TaskPlan& generation, const TaskPlan& reference, const TaskPlan& training) {
  Plan plan;
  plan.name = "plan";
  plan.tasks = {
      {"actor_generation", generation}, {"reference_inference", reference}, {"actor_training", training}};
  return plan;
}

inline Plan same_everywhere(const TaskPlan& task) { return plan_with(task, task, task); }

}  // namespace sextant::test
