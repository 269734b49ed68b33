// Documents and statistics at the sizes of a large cluster: 2,000 devices, 500 runs.
#include <benchmark/benchmark.h>

#include <random>

#include "core/json_value.h"
#include "sextant/cluster.h"
#include "sextant/document.h"
#include "sextant/run.h"
#include "sextant/statistics.h"

namespace sextant {
namespace {

constexpr int kNodes = 250;
constexpr int kDevicesPerNode = 8;
constexpr int kSlowPairs = 200;  // pairs of nodes measured apart from their level
constexpr int kRuns = 500;
constexpr int kSamplesPerTiming = 10;

DeviceType gpu() {
  DeviceType type;
  type.memory_bytes = datasheet(80e9, "bench");
  type.memory_bytes_per_s = measured(2.9e12, 0.004);
  type.flop_per_s[Precision::bf16] = measured(6.1e14, 0.01);
  return type;
}

Cluster large_cluster() {
  std::vector<Node> nodes;
  for (int n = 0; n < kNodes; ++n) {
    Node node;
    node.name = "node" + std::to_string(n);
    node.region = "region" + std::to_string(n % 2);
    node.zone = node.region + "-zone" + std::to_string(n % 4);
    node.device_type = "gpu";
    node.devices = kDevicesPerNode;
    nodes.push_back(node);
  }
  std::vector<LinkException> exceptions;
  exceptions.reserve(kSlowPairs);
  for (int pair = 0; pair < kSlowPairs; ++pair) {
    exceptions.push_back({LinkScope::node,
                          "node" + std::to_string(pair),
                          "node" + std::to_string(pair + 1),
                          {measured(9e-6, 0.05), measured(1.7e10, 0.02)},
                          true});
  }
  const LinkRate rate{measured(5e-6, 0.05), measured(4e10, 0.02)};
  return Cluster("bench", {{"gpu", gpu()}}, nodes,
                 {{LinkLevel::within_node, rate},
                  {LinkLevel::within_zone, rate},
                  {LinkLevel::within_region, rate},
                  {LinkLevel::between_regions, rate}},
                 exceptions);
}

std::vector<double> samples(int count) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> time_s(0, 0.05);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = time_s(random);
  return values;
}

// The actor alone on one device of a small cluster: the document's size comes from its runs.
Runs many_runs() {
  Runs runs;
  Node node;
  node.name = "node";
  node.region = "region";
  node.zone = "zone";
  node.device_type = "gpu";
  runs.clusters["one"] = Cluster("one", {{"gpu", gpu()}}, {node}, {});
  Model model;
  model.name = "tiny";
  model.layers = 2;
  model.hidden = 64;
  model.intermediate = 128;
  model.head_dim = 64;
  Workflow workflow;
  workflow.name = "grpo";
  workflow.models = {{"actor", model}, {"reference", model}};
  workflow.tasks = grpo_tasks(false);
  workflow.prompt_tokens = fixed_length(16);
  workflow.response_tokens = fixed_length(16);
  Plan plan;
  plan.name = "single";
  for (const Task& task : workflow.tasks) plan.tasks[task.name].replicas = expand_layout({}, model.layers);
  runs.workflows["grpo"] = workflow;
  runs.plans["single"] = plan;
  for (int i = 0; i < kRuns; ++i) {
    Run run;
    run.name = "run" + std::to_string(i);
    run.cluster = "one";
    run.workflow = "grpo";
    run.plan = "single";
    run.framework = "sextant-proxy";
    run.iteration.samples_s = samples(kSamplesPerTiming);
    for (const Task& task : workflow.tasks) run.tasks[task.name].samples_s = samples(kSamplesPerTiming);
    runs.runs.push_back(run);
  }
  return runs;
}

template <typename T>
void format(benchmark::State& state, const T& content) {
  const Document<T> document{current_provenance(), content};
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = format_document(document);
    bytes += text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

template <typename T>
void parse(benchmark::State& state, const T& content) {
  const std::string text = format_document(Document<T>{current_provenance(), content});
  for (auto _ : state) {
    const Document<T> document = parse_document<T>(text);
    benchmark::DoNotOptimize(&document);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

void format_cluster_2000_devices(benchmark::State& state) { format(state, large_cluster()); }
void parse_cluster_2000_devices(benchmark::State& state) { parse(state, large_cluster()); }
void format_runs_500(benchmark::State& state) { format(state, many_runs()); }
void parse_runs_500(benchmark::State& state) { parse(state, many_runs()); }
BENCHMARK(format_cluster_2000_devices)->Unit(benchmark::kMillisecond);
BENCHMARK(parse_cluster_2000_devices)->Unit(benchmark::kMillisecond);
BENCHMARK(format_runs_500)->Unit(benchmark::kMillisecond);
BENCHMARK(parse_runs_500)->Unit(benchmark::kMillisecond);

void links_of_2000_devices(benchmark::State& state) {
  const Cluster cluster = large_cluster();
  std::mt19937 random(11);
  std::uniform_int_distribution<int> device(0, cluster.device_count() - 1);
  for (auto _ : state) {
    const int from = device(random);
    const int to = (from + 1 + device(random) % (cluster.device_count() - 1)) % cluster.device_count();
    benchmark::DoNotOptimize(&cluster.link(DeviceId{from}, DeviceId{to}));
  }
}
BENCHMARK(links_of_2000_devices);

void median_interval_of(benchmark::State& state) {
  const std::vector<double> values = samples(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(median_interval(values));
}
BENCHMARK(median_interval_of)->Arg(10)->Arg(1000)->Arg(100000);

void rank_correlation_of(benchmark::State& state) {
  const std::vector<double> a = samples(static_cast<int>(state.range(0)));
  const std::vector<double> b(a.rbegin(), a.rend());
  for (auto _ : state) benchmark::DoNotOptimize(rank_correlation(a, b));
}
BENCHMARK(rank_correlation_of)->Arg(1000)->Arg(100000);

}  // namespace
}  // namespace sextant
