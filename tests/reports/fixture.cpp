#include "tests/reports/fixture.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace sextant {
namespace {

constexpr int kRuns = 36;
constexpr int kLayers = 24;

LinkRate link(double latency_s, double bytes_per_s) {
  return {measured(latency_s, 0.03, "fixture"), measured(bytes_per_s, 0.02, "fixture")};
}

DeviceType device_type(DeviceKind kind, double memory_bytes, double bytes_per_s, double flop_per_s) {
  DeviceType type;
  type.kind = kind;
  type.memory_bytes = datasheet(memory_bytes, "fixture");
  type.memory_bytes_per_s = measured(bytes_per_s, 0.012, "fixture, read of 1 GiB");
  const Precision precision = kind == DeviceKind::cpu ? Precision::fp32 : Precision::bf16;
  type.flop_per_s[precision] = measured(flop_per_s, 0.008, "fixture, m = n = k = 4096");
  return type;
}

std::map<std::string, DeviceType> all_types() {
  DeviceType h100 = device_type(DeviceKind::gpu, 80e9, 2.9e12, 6.4e14);
  h100.price_usd_per_hour = assumed(3.2, "fixture");
  return {{"h100", h100},
          {"l40s", device_type(DeviceKind::gpu, 48e9, 7.4e11, 1.9e14)},
          {"cpu-core", device_type(DeviceKind::cpu, 12e9, 1.1e10, 6.1e10)}};
}

Cluster make_cluster(const FixtureShape& shape) {
  std::map<std::string, DeviceType> types;
  for (const Node& node : shape) types[node.device_type] = all_types().at(node.device_type);
  std::vector<LinkException> exceptions;
  if (shape.size() == 4) {
    exceptions.push_back({LinkScope::device, "virginia-0/1", "virginia-0/2", link(9e-6, 1.1e11), true});
  }
  return Cluster("fixture-cluster", types, shape,
                 {{LinkLevel::within_node, link(4e-6, 2.6e11)},
                  {LinkLevel::within_zone, link(1.4e-5, 4.1e10)},
                  {LinkLevel::within_region, link(2.5e-4, 1.1e10)},
                  {LinkLevel::between_regions, link(1.2e-2, 1.3e9)}},
                 exceptions);
}

std::vector<DeviceId> devices_from(int first, int count) {
  std::vector<DeviceId> devices;
  devices.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) devices.push_back(DeviceId{first + i});
  return devices;
}

// dp replicas, each one stage of the same number of devices, or two stages.
TaskPlan make_task_plan(int first, int count, int replicas, int stages) {
  TaskPlan task;
  task.micro_batch_sequences = 4;
  const int shards = count / replicas / stages;
  for (int r = 0; r < replicas; ++r) {
    Replica replica{1.0 / replicas, {}};
    for (int s = 0; s < stages; ++s) {
      replica.stages.push_back({kLayers / stages, devices_from(first + (r * stages + s) * shards, shards)});
    }
    task.replicas.push_back(replica);
  }
  return task;
}

Plan make_plan(int devices, int variant) {
  Plan plan;
  plan.name = "plan-" + std::to_string(variant);
  const int half = std::max(1, devices / 2);
  const int replicas = devices >= 4 && variant % 2 == 0 ? 2 : 1;
  const int stages = devices >= 8 && variant % 3 == 0 ? 2 : 1;
  plan.tasks[task_names::kActorGeneration] = make_task_plan(0, devices, devices >= 2 ? 2 : 1, 1);
  plan.tasks[task_names::kReferenceInference] = make_task_plan(0, half, replicas, 1);
  plan.tasks[task_names::kRewardInference] = make_task_plan(devices - half, half, replicas, 1);
  plan.tasks[task_names::kCriticInference] = make_task_plan(devices - half, half, 1, 1);
  plan.tasks[task_names::kActorTraining] = make_task_plan(0, half, 1, stages);
  plan.tasks[task_names::kCriticTraining] = make_task_plan(devices - half, half, 1, 1);
  return plan;
}

Model make_model(const std::string& name, bool value_head) {
  Model model;
  model.name = name;
  model.layers = kLayers;
  model.hidden = 896;
  model.intermediate = 4864;
  model.heads = 16;
  model.kv_heads = 16;
  model.head_dim = 56;
  model.vocabulary = 32000;
  model.value_head = value_head;
  return model;
}

Workflow make_workflow(int variant) {
  Workflow workflow;
  workflow.name = "ppo-" + std::to_string(256 << variant);
  workflow.algorithm = Algorithm::ppo;
  for (const char* model : {"actor", "reference"}) workflow.models[model] = make_model(model, false);
  for (const char* model : {"critic", "reward"}) workflow.models[model] = make_model(model, true);
  workflow.tasks = ppo_tasks();
  workflow.prompts = 64;
  workflow.prompt_tokens = fixed_length(128);
  workflow.response_tokens = fixed_length(256 << variant);
  return workflow;
}

// Seconds of each task for a workflow variant on so many devices of the base speed.
std::map<std::string, double> base_times(int variant, int devices) {
  const double scale = std::pow(2.1, variant) * 16.0 / (devices + 2);
  return {{task_names::kActorGeneration, 4.2 * scale},
          {task_names::kRewardInference, 0.21 * scale},
          {task_names::kReferenceInference, 0.34 * scale},
          {task_names::kCriticInference, 0.25 * scale},
          {task_names::kActorTraining, 1.9 * scale},
          {task_names::kCriticTraining, 1.4 * scale},
          {kWeightSync, 0.012 * scale}};
}

Timing make_timing(double time_s, double noise, std::mt19937& random) {
  std::normal_distribution<double> normal(0, noise);
  Timing timing;
  for (int i = 0; i < 7; ++i) timing.samples_s.push_back(time_s * std::exp(normal(random)));
  return timing;
}

Run make_run(int index, const std::string& workflow, const std::string& plan, int variant, int devices,
             std::mt19937& random) {
  std::normal_distribution<double> normal(0, 0.12);
  Run run;
  run.name = index == 7 ? "run-07 <b>\"&</script>"
                        : "run-" + std::string(index < 10 ? "0" : "") + std::to_string(index);
  run.cluster = "fixture-cluster";
  run.workflow = workflow;
  run.plan = plan;
  run.framework = "fixture";
  double total_s = 0;
  for (const auto& [task, base_s] : base_times(variant, devices)) {
    const double time_s = base_s * std::exp(normal(random));
    run.tasks[task] = make_timing(time_s, 0.01, random);
    total_s += time_s;
  }
  run.iteration = make_timing(total_s * 0.93, index == 20 ? 0.25 : 0.01, random);
  return run;
}

Runs make_runs(const Cluster& cluster, std::mt19937& random) {
  Runs runs;
  runs.clusters["fixture-cluster"] = cluster;
  for (int variant = 0; variant < 3; ++variant) {
    const Workflow workflow = make_workflow(variant);
    runs.workflows[workflow.name] = workflow;
    for (int p = 0; p < kRuns / 3; ++p) {
      const Plan plan = make_plan(cluster.device_count(), p);
      runs.plans[plan.name] = plan;
      runs.runs.push_back(make_run(static_cast<int>(runs.runs.size()), workflow.name, plan.name, variant,
                                   cluster.device_count(), random));
    }
  }
  return runs;
}

ErrorSummary summarize(const std::vector<double>& errors) {
  if (errors.empty()) return {};
  return {static_cast<int>(errors.size()), mean(errors), median(errors), quantile(errors, 0.9),
          *std::max_element(errors.begin(), errors.end())};
}

Accuracy make_accuracy(const Runs& runs, std::mt19937& random) {
  std::normal_distribution<double> normal(0.02, 0.09);
  Accuracy accuracy;
  std::map<std::string, std::vector<double>> held_out_by_task;
  std::vector<double> errors[2][2];  // [held out][iteration]
  for (std::size_t i = 0; i < runs.runs.size(); ++i) {
    const Run& run = runs.runs[i];
    std::map<std::string, Timing> times = run.tasks;
    times["iteration"] = run.iteration;
    for (const auto& [task, timing] : times) {
      ComparedTime time{run.name, task, timing.median_s(), timing.spread_fraction(), 0, i % 3 == 2};
      time.predicted_s = time.measured_s * std::exp(normal(random) * (time.held_out ? 1 : 0.6));
      const bool is_iteration = task == "iteration";
      errors[time.held_out][is_iteration].push_back(time.error_fraction());
      if (time.held_out && !is_iteration) held_out_by_task[task].push_back(time.error_fraction());
      accuracy.times.push_back(time);
    }
  }
  accuracy.held_out_tasks = summarize(errors[1][0]);
  accuracy.held_out_iterations = summarize(errors[1][1]);
  accuracy.in_sample_tasks = summarize(errors[0][0]);
  accuracy.in_sample_iterations = summarize(errors[0][1]);
  for (const auto& [task, of_task] : held_out_by_task) accuracy.held_out_by_task[task] = summarize(of_task);
  accuracy.rank_correlation = 0.97;
  accuracy.interval_coverage = 0.88;
  accuracy.has_intervals = true;
  return accuracy;
}

Coefficient make_coefficient(const CoefficientSpec& spec, const std::string& type, std::mt19937& random) {
  std::normal_distribution<double> normal(0, 0.4);
  Coefficient coefficient{spec.id, type, std::string(kAny), spec.prior, spec.prior, {}, {}, {}, {},
                          true,    false};
  const bool is_log = spec.scale == CoefficientScale::logarithmic;
  const double shift = normal(random) * spec.prior_deviation;
  const double error = spec.prior_deviation * (0.08 + 0.25 * std::abs(normal(random)));
  coefficient.standard_error = error;
  coefficient.identified = static_cast<int>(spec.id) % 7 != 5;
  if (!coefficient.identified) {
    coefficient.standard_error = spec.prior_deviation;
  } else {
    coefficient.value = is_log ? spec.prior * std::exp(shift) : spec.prior + shift;
  }
  if (spec.id == CoefficientId::weight_sync_efficiency) coefficient.value = spec.lower;
  coefficient.value = std::clamp(coefficient.value, spec.lower, spec.upper);
  coefficient.at_bound = coefficient.value == spec.lower || coefficient.value == spec.upper;
  const double half = 1.645 * *coefficient.standard_error;
  coefficient.low = is_log ? coefficient.value * std::exp(-half) : coefficient.value - half;
  coefficient.high = is_log ? coefficient.value * std::exp(half) : coefficient.value + half;
  return coefficient;
}

Coefficients make_coefficients(const Cluster& cluster, const Runs& runs, std::mt19937& random) {
  Coefficients coefficients;
  for (const CoefficientSpec& spec : coefficient_table()) {
    if (!spec.by_device_type())
      coefficients.values.push_back(make_coefficient(spec, std::string(kAny), random));
    if (!spec.by_device_type()) continue;
    for (const auto& [type, unused] : cluster.device_types()) {
      coefficients.values.push_back(make_coefficient(spec, type, random));
    }
  }
  FitSummary fit;
  for (const Run& run : runs.runs) fit.runs.push_back(run.name);
  fit.residuals = static_cast<int>(7 * runs.runs.size());
  fit.converged = true;
  fit.message = "relative change of the cost below 1e-6.";
  fit.task_log_deviation = 0.062;
  fit.iteration_log_deviation = 0.041;
  coefficients.fit = fit;
  return coefficients;
}

std::map<Term, double> split_terms(const std::string& task, double time_s) {
  if (task == task_names::kActorGeneration) {
    return {{Term::compute, 0.12 * time_s},
            {Term::tensor_parallel, 0.10 * time_s},
            {Term::decode, 0.66 * time_s},
            {Term::overhead, 0.12 * time_s}};
  }
  if (task == task_names::kActorTraining || task == task_names::kCriticTraining) {
    return {{Term::compute, 0.61 * time_s},           {Term::tensor_parallel, 0.14 * time_s},
            {Term::pipeline_parallel, 0.03 * time_s}, {Term::bubble, 0.09 * time_s},
            {Term::data_parallel, 0.05 * time_s},     {Term::optimizer, 0.06 * time_s},
            {Term::overhead, 0.02 * time_s}};
  }
  return {
      {Term::compute, 0.8 * time_s}, {Term::tensor_parallel, 0.15 * time_s}, {Term::overhead, 0.05 * time_s}};
}

double start_of(const std::string& task, const std::map<std::string, double>& times_s) {
  const double generated_s = times_s.at(task_names::kActorGeneration);
  if (task == task_names::kActorGeneration) return 0;
  if (task == task_names::kReferenceInference || task == task_names::kRewardInference) return generated_s;
  const double judged_s = generated_s + times_s.at(task_names::kRewardInference);
  if (task == task_names::kCriticInference) return judged_s;
  return judged_s + times_s.at(task_names::kCriticInference);
}

Prediction make_prediction(const Cluster& cluster, const Plan& plan) {
  Prediction prediction;
  prediction.workflow = "ppo-512";
  prediction.plan = plan.name;
  prediction.cluster = cluster.name();
  auto times_s = base_times(1, cluster.device_count());
  prediction.weight_sync_s = times_s.at(kWeightSync);
  times_s.erase(kWeightSync);
  for (const auto& [task, time_s] : times_s) {
    TaskPrediction predicted;
    predicted.time_s = time_s;
    predicted.interval_s = Interval{0.9 * time_s, 1.12 * time_s};
    predicted.terms_s = split_terms(task, time_s);
    predicted.start_s = start_of(task, times_s);
    predicted.end_s = predicted.start_s + time_s;
    const auto devices = plan.tasks.at(task).devices();
    predicted.devices.assign(devices.begin(), devices.end());
    prediction.iteration_s = std::max(prediction.iteration_s, predicted.end_s);
    prediction.tasks[task] = predicted;
  }
  prediction.iteration_interval_s = Interval{0.94 * prediction.iteration_s, 1.07 * prediction.iteration_s};
  prediction.sequences_per_s = 64 / prediction.iteration_s;
  for (int i = 0; i < cluster.device_count(); ++i) {
    const double capacity_bytes = cluster.type_of(DeviceId{i}).memory_bytes.value;
    prediction.memory.push_back({DeviceId{i}, capacity_bytes, 0.41 * capacity_bytes, 0.33 * capacity_bytes});
  }
  prediction.tasks.at("actor_generation").familiarity = Familiarity{"ppo-512/dp2", 0.25, {}};
  prediction.tasks.at("actor_training").familiarity =
      Familiarity{"ppo-512/tp4", 2.5, {"4 times the tokens of a sequence"}};
  prediction.sensitivities = {{"training_efficiency", "*", false, -0.4, 0.3},
                              {"layer_overhead_s", "*", false, 0.02, 0.1},
                              {"flop_per_s", "gpu", true, -0.7, std::nullopt}};
  prediction.bottleneck =
      "Actor generation takes most of the iteration; most of it is reading weights token by token.";
  return prediction;
}

SearchRecord make_search() {
  SearchRecord search;
  search.workflow = "ppo-512";
  search.cluster = "fixture";
  search.planner = "sha-ea";
  search.seed = 7;
  search.threads = 2;
  search.outcome = PlanOutcome::found;
  search.message = "best of 3,000 plans that fit, of 4,000 that were looked at";
  search.wall_s = 10;
  search.candidates = 4000;
  search.feasible = 3000;
  search.curve = {{1, 0.002, 9.5, 9.5}, {40, 0.03, 7.1, 7.1}, {1800, 4.5, 6.2, 6.2}};
  search.lower_bound_s = 5;
  search.plan = "fixture";
  search.iteration_s = 6.2;
  return search;
}

template <typename T>
Document<T> document(T content, const std::string& command) {
  return {{"sextant 0.1.0", "sextant " + command, "2026-01-31T12:00:00Z", "fixture-host"}, std::move(content)};
}

}  // namespace

FixtureShape one_core() { return {{"host", "local", "local", "cpu-core", 1, {}, {}}}; }
FixtureShape two_cores() { return {{"host", "local", "local", "cpu-core", 2, 24e9, link(1e-6, 6.2e9)}}; }

FixtureShape sixteen_gpus() {
  return {{"virginia-0", "virginia", "virginia-a", "h100", 4, 1e12, {}},
          {"virginia-1", "virginia", "virginia-a", "h100", 4, 1e12, {}},
          {"ohio-0", "ohio", "ohio-a", "l40s", 4, 5e11, link(2.1e-5, 2.4e10)},
          {"ohio-1", "ohio", "ohio-b", "l40s", 4, 5e11, link(2.1e-5, 2.4e10)}};
}

FixtureShape many_gpus(int nodes) {
  FixtureShape shape;
  for (int i = 0; i < nodes; ++i) {
    shape.push_back({"node-" + std::to_string(i), "virginia", "virginia-a", "h100", 8, 1e12, {}});
  }
  return shape;
}

ReportInput fixture_report(const FixtureShape& shape) {
  std::mt19937 random(20260131);
  const Cluster cluster = make_cluster(shape);
  const Runs runs = make_runs(cluster, random);
  const Plan plan = make_plan(cluster.device_count(), 6);
  ReportInput input;
  input.title = "Fixture: made-up numbers for the tests of the report";
  input.cluster = document(cluster, "probe");
  input.runs = document(runs, "proxy");
  input.coefficients = document(make_coefficients(cluster, runs, random), "calibrate");
  input.accuracy = document(make_accuracy(runs, random), "validate");
  input.plan = document(plan, "plan");
  input.prediction = document(make_prediction(cluster, plan), "predict");
  input.search = document(make_search(), "plan");
  input.notes = {"None of the numbers on this page was measured."};
  return input;
}

}  // namespace sextant
