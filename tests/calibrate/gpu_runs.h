// Runs on two nodes of four GPUs, in layouts that together exercise every formula of the model. Rates and sizes
// are realistic; no GPU is needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "calibrate/residuals.h"
#include "sextant/predict.h"
#include "sextant/run.h"

namespace sextant::test {

inline DeviceType gpu_type(double bf16_flop_per_s) {
  DeviceType type;
  type.kind = DeviceKind::gpu;
  type.memory_bytes = assumed(8e10);
  type.memory_bytes_per_s = assumed(3e12);
  type.flop_per_s[Precision::bf16] = assumed(bf16_flop_per_s);
  type.flop_per_s[Precision::fp8] = assumed(2 * bf16_flop_per_s);
  type.flop_per_s[Precision::fp4] = assumed(4 * bf16_flop_per_s);
  type.host_bytes_per_s = assumed(2.5e10);
  return type;
}

inline Cluster gpu_cluster(const std::string& name, const std::string& second_type) {
  std::vector<Node> nodes(2);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    nodes[n].name = "node" + std::to_string(n);
    nodes[n].region = nodes[n].zone = "here";
    nodes[n].device_type = n == 0 ? "gpu" : second_type;
    nodes[n].devices = 4;
    nodes[n].network_bytes_per_s = 1.5e11;
  }
  return Cluster(name, {{"gpu", gpu_type(8e14)}, {"older", gpu_type(3e14)}}, nodes,
                 {{LinkLevel::within_node, {assumed(3e-6), assumed(3e11)}},
                  {LinkLevel::within_zone, {assumed(1e-5), assumed(4.5e10)}}});
}

// A dense model of 0.6 billion parameters with generation, two scoring tasks and training.
inline Workflow gpu_workflow() {
  Model model;
  model.name = "dense";
  model.layers = 8;
  model.hidden = 2048;
  model.heads = 16;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.intermediate = 6144;
  model.vocabulary = 32000;
  Workflow workflow;
  workflow.name = "gpu";
  workflow.tasks = grpo_tasks(true);
  workflow.models["actor"] = workflow.models["reference"] = workflow.models["reward"] = model;
  workflow.prompts = 16;
  workflow.responses_per_prompt = 8;
  workflow.mini_batches = 2;
  workflow.prompt_tokens = fixed_length(512);
  workflow.response_tokens.kind = LengthKind::empirical;
  workflow.response_tokens.tokens = {256, 1024};
  workflow.response_tokens.weights = {3, 1};
  return workflow;
}

// Like gpu_workflow, with 16 experts in all layers but one, 4 for each token.
inline Workflow gpu_mixture() {
  Workflow workflow = gpu_workflow();
  workflow.name = "mixture";
  for (auto& [role, model] : workflow.models) model.experts = Experts{16, 4, 1024, 1024, 1};
  return workflow;
}

struct GpuCase {
  std::string name;
  Workflow workflow;
  Plan plan;
  Cluster cluster;
};
// Prints a case in the message of a failing test.
inline void PrintTo(const GpuCase& of, std::ostream* out) { *out << of.name; }

// Returns a plan with every task in this layout, from the first device on.
inline Plan gpu_plan(const Workflow& workflow, const UniformLayout& layout, const Execution& execution = {}) {
  Plan plan;
  plan.name = "plan";
  for (const Task& task : workflow.tasks) {
    TaskPlan& of_task = plan.tasks[task.name];
    of_task.replicas = expand_layout(layout, workflow.model_of(task).layers);
    of_task.micro_batch_sequences = 4;
    of_task.execution = execution;
  }
  return plan;
}

// Generation runs on the first node, the rest on the second, with separate devices for the scoring tasks.
inline Plan gpu_pools(const Workflow& workflow, WeightSyncMethod method) {
  Plan plan = gpu_plan(workflow, {1, 1, 2, DeviceId{0}});
  const auto place = [&](const char* task, const UniformLayout& layout) {
    plan.tasks.at(task).replicas = expand_layout(layout, 8);
  };
  place(task_names::kActorGeneration, {2, 1, 2, DeviceId{0}});
  place(task_names::kReferenceInference, {1, 1, 2, DeviceId{4}});
  place(task_names::kRewardInference, {2, 1, 1, DeviceId{6}});
  place(task_names::kActorTraining, {2, 1, 2, DeviceId{4}});
  plan.weight_sync.method = method;
  return plan;
}

// Returns layouts first, then execution options.
inline std::vector<GpuCase> gpu_cases() {
  const Cluster cluster = gpu_cluster("alike", "gpu");
  const Workflow dense = gpu_workflow(), mixture = gpu_mixture();
  std::vector<GpuCase> cases;
  const auto add = [&](const std::string& name, const Workflow& workflow, const Plan& plan) {
    cases.push_back({name, workflow, plan, cluster});
  };
  const auto with = [&](const std::string& name, const Workflow& workflow, const UniformLayout& layout,
                        const auto& set) {
    Execution execution;
    execution.fused_attention = execution.packed = true;
    set(execution);
    add(name, workflow, gpu_plan(workflow, layout, execution));
  };
  const auto edit = [&](const auto& change) {
    for (auto& [task, plan] : cases.back().plan.tasks) change(plan);
  };
  const UniformLayout replicas{8, 1, 1, DeviceId{0}}, pairs{4, 1, 2, DeviceId{0}}, nodes{2, 1, 4, DeviceId{0}},
      pipelines{2, 2, 2, DeviceId{0}};

  add("plain", dense, gpu_plan(dense, nodes));
  with("sequence_parallel", dense, nodes, [](Execution& e) { e.sequence_parallel = true; });
  add("stages", dense, gpu_plan(dense, {1, 4, 2, DeviceId{0}}));
  with("virtual_stages", dense, pipelines, [](Execution& e) { e.virtual_stages = 2; });
  with("scattered", dense, pipelines, [](Execution& e) { e.semantics = "megatron"; });
  with("context_parallel", dense, nodes, [](Execution& e) { e.context_parallel = 2; });
  with("all_to_all", mixture, pairs, [](Execution& e) {
    e.expert_parallel = 4;
    e.expert_tensor_parallel = 1;
    e.overlap_dispatch = true;
  });
  with("all_to_all_between_nodes", mixture, replicas, [](Execution& e) {
    e.expert_parallel = 8;
    e.fused_dispatch = e.fused_experts = true;
  });
  for (const int stage : {1, 2, 3}) {
    with("zero" + std::to_string(stage), dense, replicas, [&](Execution& e) { e.zero_stage = stage; });
  }
  with("fsdp_offload", dense, replicas, [](Execution& e) {
    e.zero_stage = 3;
    e.offload_weights = e.offload_optimizer = e.offload_activations = true;
  });
  with("lora", dense, replicas, [](Execution& e) {
    e.lora_rank = 16;
    e.zero_stage = 3;
  });
  with("selective_recomputation", dense, pairs, [](Execution&) {});
  edit([](TaskPlan& plan) { plan.recompute = Recompute::selective; });
  with("full_recomputation", dense, pairs, [](Execution&) {});
  edit([](TaskPlan& plan) { plan.recompute = Recompute::full; });
  with("waves", dense, pairs, [](Execution& e) {
    e.continuous_batching = e.shared_prompts = true;
    e.prefill_chunk_tokens = 2048;
  });
  edit([](TaskPlan& plan) { plan.decode_batch_sequences = 8; });
  with("cuda_graphs", dense, pairs, [](Execution& e) { e.cuda_graphs = e.continuous_batching = true; });
  with("training_graphs", mixture, replicas,
       [](Execution& e) { e.training_graphs = TrainingGraphs::attention; });
  with("eight_bits", dense, pairs, [](Execution& e) { e.precision = Precision::fp8; });
  with("four_bits", mixture, pairs, [](Execution& e) { e.expert_precision = Precision::fp4; });
  with("portable_attention", dense, pairs, [](Execution& e) { e.portable_attention = true; });

  Workflow ahead = dense;
  ahead.mode = Mode::asynchronous;
  ahead.staleness = 1;
  add("asynchronous", ahead, gpu_pools(dense, WeightSyncMethod::topology_aware));
  Plan packed = gpu_pools(dense, WeightSyncMethod::broadcast);
  packed.weight_sync.bucket_bytes = 1e8;
  add("packed", dense, packed);
  ahead.staleness = 0.1;
  ahead.streamed_parts = 4;
  add("streamed", ahead, gpu_pools(dense, WeightSyncMethod::flat));
  Workflow custom = dense;
  custom.algorithm = Algorithm::custom;
  add("custom", custom, gpu_pools(dense, WeightSyncMethod::shortest));
  add("two_types", dense, gpu_plan(dense, replicas));
  cases.back().cluster = gpu_cluster("two-types", "older");
  return cases;
}

// Returns one run of a case with all its measured numbers: the model's own for these coefficients, with
// lognormal noise as the fit expects it for times and, smaller, for memory.
inline Run gpu_run(const GpuCase& of, const Coefficients& truth, double noise, std::mt19937& random) {
  std::normal_distribution<double> normal(0, 1);
  const auto noisy = [&](double value, double share = 1) {
    return value * std::exp(share * noise * normal(random));
  };
  const Prediction prediction = predict(of.cluster, of.workflow, of.plan, truth);
  Run run;
  run.name = run.workflow = run.plan = of.name;
  run.cluster = of.cluster.name();
  run.framework = "synthetic";
  run.iteration.samples_s = {noisy(prediction.iteration_s)};
  for (const auto& [name, task] : prediction.tasks) run.tasks[name].samples_s = {noisy(task.time_s)};
  if (prediction.weight_sync_s > 0) run.tasks[kWeightSync].samples_s = {noisy(prediction.weight_sync_s)};
  double maximum = 0;
  for (const DeviceMemory& memory : prediction.memory) maximum = std::max(maximum, memory.needed_bytes());
  run.peak_memory_bytes = noisy(maximum, kMemoryLogDeviation / kMinLogDeviation);
  return run;
}

inline void add_case(Runs& runs, const GpuCase& of, Run run) {
  runs.clusters[of.cluster.name()] = of.cluster;
  runs.workflows[of.name] = of.workflow;
  runs.plans[of.name] = of.plan;
  runs.runs.push_back(std::move(run));
}

}  // namespace sextant::test
