// How fast the fix is found: a fit with covariance, and a cross-validation.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>

#include "calibrate/cross_validation.h"
#include "sextant/fit.h"
#include "sextant/predict.h"

namespace sextant {
namespace {

Cluster mixed_cluster() {
  const auto type = [](double flop_per_s, double bytes_per_s) {
    DeviceType made;
    made.memory_bytes = assumed(80e9);
    made.memory_bytes_per_s = assumed(bytes_per_s);
    made.flop_per_s[Precision::bf16] = assumed(flop_per_s);
    return made;
  };
  std::vector<Node> nodes;
  for (int n = 0; n < 4; ++n) {
    Node node;
    node.name = "node" + std::to_string(n);
    node.region = node.zone = "here";
    node.device_type = "gpu";
    node.devices = 8;
    nodes.push_back(std::move(node));
  }
  return Cluster("bench", {{"gpu", type(6e14, 2.6e12)}}, nodes,
                 {{LinkLevel::within_node, {assumed(5e-6), assumed(3e11)}},
                  {LinkLevel::within_zone, {assumed(1e-5), assumed(4e10)}}});
}

Workflow workflow_of(int index) {
  Model model;
  model.name = "model-" + std::to_string(index);
  model.layers = 16 + 8 * (index % 4);
  model.heads = model.kv_heads = 32;
  model.head_dim = 64 + 32 * (index % 3);
  model.hidden = 32 * model.head_dim;
  model.intermediate = 3 * model.hidden;
  model.vocabulary = 32000 * (1 + index % 3);
  Workflow workflow;
  workflow.name = "workflow-" + std::to_string(index);
  workflow.models["actor"] = workflow.models["reference"] = model;
  workflow.tasks = grpo_tasks(false);
  workflow.prompts = 64 << (index % 3);
  workflow.responses_per_prompt = 8;
  workflow.prompt_tokens = fixed_length(256 << (index % 4));
  workflow.response_tokens = fixed_length(512 << (index % 4));
  workflow.mini_batches = 1 + index % 3;
  return workflow;
}

// Times are the model's own at the priors, with 5 % noise, on one to four nodes in layouts that touch most
// effects.
Runs runs_of(int count) {
  Coefficients truth;
  for (const CoefficientSpec& spec : coefficient_table()) {
    Coefficient c;
    c.id = spec.id;
    c.value = spec.prior;
    truth.values.push_back(c);
  }
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 0.05);
  const auto noisy = [&](double time_s) { return Timing{{time_s * std::exp(normal(random))}}; };
  Runs runs;
  const Cluster cluster = mixed_cluster();
  runs.clusters[cluster.name()] = cluster;
  const int degrees[8][3] = {{8, 1, 1}, {4, 1, 2}, {2, 2, 2}, {1, 2, 4},
                             {8, 2, 1}, {8, 1, 4}, {4, 4, 2}, {16, 1, 2}};
  for (int r = 0; r < count; ++r) {
    const Workflow workflow = workflow_of(r % 48);
    runs.workflows[workflow.name] = workflow;
    Plan plan;
    plan.name = "plan-" + std::to_string(r);
    const auto& degree = degrees[(r / 48) % 8];
    for (const Task& task : workflow.tasks) {
      TaskPlan& layout = plan.tasks[task.name];
      layout.replicas =
          expand_layout({degree[0], degree[1], degree[2], DeviceId{0}}, workflow.model_of(task).layers);
      layout.micro_batch_sequences = 1 << (r / 384 % 3);
      layout.execution.fused_attention = r % 5 != 0;
      layout.execution.cuda_graphs = r % 2 == 0;
      layout.execution.packed = r % 3 == 0;
      if (task.kind == TaskKind::training) {
        layout.recompute = r % 4 == 0 ? Recompute::full : Recompute::none;
        layout.execution.zero_stage = r % 7 == 0 ? 3 : 0;
      }
    }
    const Prediction prediction = predict(cluster, workflow, plan, truth);
    Run run;
    run.name = run.plan = plan.name;
    run.cluster = cluster.name();
    run.workflow = workflow.name;
    run.framework = "synthetic";
    run.iteration = noisy(prediction.iteration_s);
    for (const auto& [name, task] : prediction.tasks) run.tasks[name] = noisy(task.time_s);
    runs.plans[plan.name] = std::move(plan);
    runs.runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<std::string> names_of(const Runs& runs) {
  std::vector<std::string> names;
  for (const Run& run : runs.runs) names.push_back(run.name);
  return names;
}

// 1,000 runs of four times each, from the priors' own start, with the covariance of all coefficients.
void fit_1000x40_s(benchmark::State& state) {
  const Runs runs = runs_of(1000);
  int free = 0;
  for (auto _ : state) {
    const Coefficients fitted = fit_coefficients(runs, names_of(runs));
    free = fitted.fit->free_coefficients;
    benchmark::DoNotOptimize(fitted.values.data());
  }
  state.counters["free_coefficients"] = free;
  state.counters["target_s"] = 2;
}
BENCHMARK(fit_1000x40_s)->Name("calibrate.fit_1000x40_s")->Unit(benchmark::kSecond)->Iterations(1);

// 200 runs, ten folds of whole workflows, each fitted from the priors.
void cross_validation_200_s(benchmark::State& state) {
  const Runs runs = runs_of(200);
  for (auto _ : state) {
    const auto folds = leave_groups_out(runs, group_key(runs, LeaveOut::workflow), 10, 1);
    benchmark::DoNotOptimize(cross_validate(runs, folds).folds);
  }
  state.counters["target_s"] = 20;
}
BENCHMARK(cross_validation_200_s)
    ->Name("calibrate.cross_validation_200_s")
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

}  // namespace
}  // namespace sextant
