// How fast plans are costed: what a planner's speed is made of.
#include <benchmark/benchmark.h>

#include <random>

#include "costmodel/iteration.h"
#include "costmodel/problem/ring.h"
#include "sextant/predict.h"

namespace sextant {
namespace {

Cluster cluster_of(int nodes) {
  DeviceType type;
  type.memory_bytes = datasheet(80e9, "benchmark");
  type.memory_bytes_per_s = datasheet(2e12, "benchmark");
  type.flop_per_s[Precision::bf16] = datasheet(300e12, "benchmark");
  std::vector<Node> all;
  for (int n = 0; n < nodes; ++n) {
    Node node;
    node.name = "node" + std::to_string(n);
    node.region = "r";
    node.zone = "z";
    node.device_type = "gpu";
    node.devices = 8;
    all.push_back(std::move(node));
  }
  return Cluster("bench", {{"gpu", type}}, all,
                 {{LinkLevel::within_node, {assumed(3e-6), assumed(200e9)}},
                  {LinkLevel::within_zone, {assumed(10e-6), assumed(40e9)}}});
}

Workflow ppo_workflow() {
  Model model;
  model.name = "llama-8b";
  model.layers = 32;
  model.hidden = 4096;
  model.intermediate = 14336;
  model.heads = 32;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.vocabulary = 128256;
  Workflow workflow;
  workflow.name = "ppo";
  workflow.algorithm = Algorithm::ppo;
  workflow.models["actor"] = workflow.models["reference"] = model;
  model.value_head = true;
  workflow.models["critic"] = workflow.models["reward"] = model;
  workflow.tasks = ppo_tasks();
  workflow.prompts = 512;
  workflow.prompt_tokens = fixed_length(1024);
  workflow.response_tokens = fixed_length(1024);
  return workflow;
}

Plan plan_on(const Workflow& workflow, int devices) {
  Plan plan;
  plan.name = "everything on all";
  for (const Task& task : workflow.tasks) {
    TaskPlan& layout = plan.tasks[task.name];
    layout.replicas = expand_layout({devices / 8, 2, 4, DeviceId{0}}, workflow.model_of(task).layers);
    layout.micro_batch_sequences = 4;
  }
  return plan;
}

// One whole PPO plan of six tasks from scratch; the argument is the number of devices.
void iteration_cost_ppo(benchmark::State& state) {
  const Cluster cluster = cluster_of(static_cast<int>(state.range(0)) / 8);
  const Workflow workflow = ppo_workflow();
  const Plan plan = plan_on(workflow, cluster.device_count());
  const Hardware<double> hardware(cluster, workflow.precision);
  const Problem<double> problem(workflow, plan, hardware, CoefficientValues<double>(hardware.type_count()));
  for (auto _ : state) benchmark::DoNotOptimize(iteration_cost(problem).iteration_s);
}
BENCHMARK(iteration_cost_ppo)->Arg(8)->Arg(16)->Arg(64)->Arg(256);

// The same with checks, memory, timeline and text.
void predict_ppo(benchmark::State& state) {
  const Cluster cluster = cluster_of(static_cast<int>(state.range(0)) / 8);
  const Workflow workflow = ppo_workflow();
  const Plan plan = plan_on(workflow, cluster.device_count());
  for (auto _ : state) benchmark::DoNotOptimize(predict(cluster, workflow, plan, {}).iteration_s);
}
BENCHMARK(predict_ppo)->Arg(64);

// Random costs: the worst case. Exact up to kExactRingSize members, bounded beyond.
void bottleneck_ring(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  std::mt19937 random(1);
  std::vector<double> cost(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (double& value : cost) value = std::uniform_real_distribution<double>(1, 100)(random);
  std::vector<DeviceId> members;
  for (int d = 0; d < n; ++d) members.push_back(DeviceId{d});
  const auto edge = [&](DeviceId a, DeviceId b) {
    return cost[a.index() * static_cast<std::size_t>(n) + b.index()];
  };
  for (auto _ : state) benchmark::DoNotOptimize(find_bottleneck_ring(members, edge).upper_s);
}
BENCHMARK(bottleneck_ring)->Arg(4)->Arg(8)->Arg(kExactRingSize)->Arg(64);

}  // namespace
}  // namespace sextant
