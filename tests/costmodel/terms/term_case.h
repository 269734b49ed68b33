// One task of the small problem, ready to evaluate the formulas of its stages.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/costmodel/small_problem.h"

namespace sextant::test {

inline constexpr const char* kTraining = "actor_training";
inline constexpr const char* kInference = "reference_inference";
inline constexpr const char* kGeneration = "actor_generation";

// All tasks have the same layout; `task` is the one under test.
struct TermCase {
  Case<> whole;
  TaskWork task;

  TermCase(const std::string& name, const TaskPlan& plan, Workflow workflow = small_workflow(),
           Cluster cluster = small_cluster())
      : whole(std::move(cluster), std::move(workflow), same_everywhere(plan)), task(whole.work(name)) {}
  TermCase(const TermCase&) = delete;

  [[nodiscard]] StageOfTask<double> at(int stage = 0) const { return {whole.problem, task, 0, stage}; }
  [[nodiscard]] const Problem<double>& problem() const { return whole.problem; }
  [[nodiscard]] const ReplicaWork& work() const { return task.replicas.front(); }
  void set(CoefficientId id, double value) { whole.set(id, value); }
};

// Replicas of equal shares, micro-batches of 3 sequences.
inline TaskPlan plan_of(const std::vector<std::vector<Stage>>& replicas) {
  TaskPlan plan;
  for (const std::vector<Stage>& stages : replicas) {
    plan.replicas.push_back({1.0 / static_cast<double>(replicas.size()), stages});
  }
  plan.micro_batch_sequences = 3;
  return plan;
}

inline TaskPlan with(TaskPlan plan, const Execution& execution) {
  plan.execution = execution;
  return plan;
}

// Every model of the workflow has this shape.
inline Workflow with_model(const Model& model, Workflow workflow = small_workflow()) {
  for (auto& [role, of_role] : workflow.models) of_role = model;
  return workflow;
}

// `nodes` nodes of `devices` devices (100 FLOP/s, 50 B/s memory): 1 s + n / 100 inside, 5 s + n / 10 between.
inline Cluster row_of_nodes(int nodes, int devices, std::optional<double> network_bytes_per_s = std::nullopt) {
  std::vector<Node> all;
  for (int i = 0; i < nodes; ++i) {
    all.push_back(node("n" + std::to_string(i), "fast", devices));
    all.back().network_bytes_per_s = network_bytes_per_s;
  }
  return Cluster("row", {{"fast", device_type(100, 50)}}, all,
                 {{LinkLevel::within_node, link_rate(1, 100)}, {LinkLevel::within_zone, link_rate(5, 10)}});
}

// Two replicas of one fast device each: 6 sequences, 2 micro-batches.
inline TaskPlan two_fast() { return plan_of({{stage(3, {0})}, {stage(3, {1})}}); }

inline std::vector<DeviceId> device_ids(const std::vector<int>& numbers) { return stage(1, numbers).devices; }

// Lengths of 2 and 6 tokens with equal probability: mean 4, mean square 20, longest 6.
inline Lengths two_or_six() {
  Lengths lengths;
  lengths.kind = LengthKind::empirical;
  lengths.tokens = {2, 6};
  lengths.weights = {1, 1};
  return lengths;
}

// 4 experts of 5 columns, 2 for each token, and shared ones of 3 columns together. Routed experts have 3 * 4 *
// 5 * 4 = 240 parameters of a layer's MLP, shared ones 3 * 4 * 3 = 36 and the router 4 * 4 = 16.
inline Model small_mixture() {
  Model model = small_model();
  model.experts = Experts{4, 2, 5, 3, 0};
  return model;
}

}  // namespace sextant::test
