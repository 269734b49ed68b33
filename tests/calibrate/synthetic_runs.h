// Runs whose times are the model's own, for known coefficients, with noise if wanted.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "sextant/predict.h"
#include "sextant/run.h"

namespace sextant::test {

inline Cluster two_cores() {
  DeviceType core;
  core.kind = DeviceKind::cpu;
  core.memory_bytes = assumed(8e9);
  core.memory_bytes_per_s = assumed(3e10);
  core.flop_per_s[Precision::fp32] = assumed(1e11);
  Node node;
  node.name = "host";
  node.region = node.zone = "here";
  node.device_type = "core";
  node.devices = 2;
  return Cluster("two-cores", {{"core", core}}, {node},
                 {{LinkLevel::within_node, {assumed(1e-6), assumed(8e9)}}});
}

inline Workflow synthetic_workflow(int index) {
  Model model;
  model.name = "model-" + std::to_string(index);
  model.layers = 4 + 2 * (index % 3);
  model.heads = model.kv_heads = 8;
  model.head_dim = 32 + 16 * (index % 4);
  model.hidden = 8 * model.head_dim;
  model.intermediate = 3 * model.hidden;
  model.vocabulary = 1024 * (1 + index % 2);
  Workflow workflow;
  workflow.name = "workflow-" + std::to_string(index);
  workflow.models["actor"] = workflow.models["reference"] = model;
  workflow.tasks = grpo_tasks(false);
  workflow.prompts = 2 + index % 3;
  workflow.responses_per_prompt = 4;
  workflow.prompt_tokens = fixed_length(32 * (1 + index % 5));
  workflow.response_tokens = fixed_length(16 * (1 + index % 4));
  workflow.mini_batches = 1 + index % 2;
  workflow.precision = Precision::fp32;
  return workflow;
}

inline Plan synthetic_plan(const Workflow& workflow, int dp, int pp, int tp, int micro_batch) {
  Plan plan;
  plan.name = workflow.name + "-" + std::to_string(dp) + std::to_string(pp) + std::to_string(tp);
  for (const Task& task : workflow.tasks) {
    TaskPlan& layout = plan.tasks[task.name];
    layout.replicas = expand_layout({dp, pp, tp, DeviceId{0}}, workflow.model_of(task).layers);
    layout.micro_batch_sequences = micro_batch;
  }
  return plan;
}

// 16 workflows in 4 layouts each; noise is the deviation of log(time).
inline Runs synthetic_runs(const Coefficients& truth, double noise = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  const auto noisy = [&](double time_s) { return Timing{{time_s * std::exp(noise * normal(random))}}; };
  Runs runs;
  const Cluster cluster = two_cores();
  runs.clusters[cluster.name()] = cluster;
  for (int w = 0; w < 16; ++w) {
    const Workflow workflow = synthetic_workflow(w);
    runs.workflows[workflow.name] = workflow;
    const int degrees[4][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}};
    for (const auto& degree : degrees) {
      Plan plan = synthetic_plan(workflow, degree[0], degree[1], degree[2], 1 + (w + degree[1]) % 4);
      // If attention is not fused, scores and attention cannot be distinguished on one device type.
      for (auto& [name, task] : plan.tasks) task.execution.fused_attention = true;
      runs.plans[plan.name] = plan;
      const Prediction prediction = predict(cluster, workflow, plan, truth);
      Run run;
      run.name = run.plan = plan.name;
      run.cluster = cluster.name();
      run.workflow = workflow.name;
      run.framework = "synthetic";
      for (const auto& [name, task] : prediction.tasks) run.tasks[name] = noisy(task.time_s);
      if (prediction.weight_sync_s > 0) run.tasks[kWeightSync] = noisy(prediction.weight_sync_s);
      // The noise of an iteration is that of its parts.
      double iteration_s = prediction.iteration_s - prediction.weight_sync_s;
      for (const auto& [name, task] : prediction.tasks) iteration_s -= task.time_s;
      iteration_s = noisy(iteration_s).samples_s.front();
      for (const auto& [name, timing] : run.tasks) iteration_s += timing.samples_s.front();
      run.iteration.samples_s = {iteration_s};
      runs.runs.push_back(std::move(run));
    }
  }
  return runs;
}

// Sets the times of all runs again, without noise: the model's own for these coefficients and the document's
// current content.
inline void measure_again(Runs& runs, const Coefficients& truth) {
  for (Run& run : runs.runs) {
    const Prediction prediction =
        predict(runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run), truth, run.framework);
    run.iteration.samples_s = {prediction.iteration_s};
    for (auto& [name, timing] : run.tasks) {
      timing.samples_s = {name == kWeightSync ? prediction.weight_sync_s : prediction.tasks.at(name).time_s};
    }
  }
}

inline Coefficient coefficient(CoefficientId id, double value) {
  Coefficient c;
  c.id = id;
  c.value = value;
  c.prior = spec_of(id).prior;
  return c;
}

// Values far from the priors if the runs determine them, at the priors elsewhere.
inline Coefficients synthetic_truth() {
  Coefficients truth;
  for (const CoefficientSpec& spec : coefficient_table())
    truth.values.push_back(coefficient(spec.id, prior_on_cpu(spec.id)));
  const auto set = [&](CoefficientId id, double value) {
    truth.values[static_cast<std::size_t>(id)].value = value;
  };
  set(CoefficientId::prefill_efficiency, 0.5);
  set(CoefficientId::inference_efficiency, 0.9);
  set(CoefficientId::training_efficiency, 0.8);
  set(CoefficientId::attention_weight, 3);
  set(CoefficientId::decode_bandwidth_efficiency, 0.6);
  set(CoefficientId::tensor_parallel_efficiency, 0.5);  // more than two deviations from its prior
  set(CoefficientId::data_parallel_efficiency, 0.25);
  return truth;
}

inline std::vector<std::string> names_of(const Runs& runs) {
  std::vector<std::string> names;
  for (const Run& run : runs.runs) names.push_back(run.name);
  return names;
}

inline const Coefficient& find(const Coefficients& coefficients, CoefficientId id) {
  for (const Coefficient& c : coefficients.values) {
    if (c.id == id) return c;
  }
  throw std::out_of_range("no such coefficient");
}

}  // namespace sextant::test
