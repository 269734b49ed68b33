#include <algorithm>
#include <array>

#include "calibrate/import/records/facts.h"
#include "calibrate/import/records/measured_iteration.h"
#include "core/units.h"
#include "lab/reproduce/weave/finding.h"
#include "lab/reproduce/weave/weave.h"
#include "sextant/predict.h"

namespace sextant {
namespace {

constexpr const char* kWeave = "WEAVE (Wu et al.), Table 1 and section 6.1";
constexpr const char* kH20 = "H20-96GB";
constexpr const char* kH800 = "H800";
constexpr int kNodeGpus = 8;

DeviceType weave_gpu(const Facts& facts, const char* name, double flop_per_s, double memory_bytes_per_s,
                     double usd_per_hour) {
  DeviceType type = facts.gpu(name).type;
  type.flop_per_s[Precision::bf16] = datasheet(flop_per_s, kWeave);
  type.memory_bytes_per_s = datasheet(memory_bytes_per_s, kWeave);
  type.price_usd_per_hour = datasheet(usd_per_hour, kWeave);
  return type;
}

void add_pool(std::vector<Node>& nodes, const Facts& facts, const char* gpu, const char* zone, int count) {
  for (int number = 0; number < count; ++number) {
    Node node;
    node.name = std::string(zone) + "-" + std::to_string(number);
    node.region = "region";
    node.zone = zone;
    node.device_type = gpu;
    node.devices = kNodeGpus;
    node.link = facts.gpu(gpu).within_node;
    nodes.push_back(node);
  }
}

// Training nodes first. 400 Gbit/s between two GPUs of a pool; everything between the pools shares 20 Gbit/s.
Cluster two_pools(const Facts& facts, int training_nodes, int rollout_nodes) {
  constexpr double kFabric = 400e9 / 8, kBetweenPools = 20e9 / 8, kLatency_s = 1e-5;
  std::vector<Node> nodes;
  add_pool(nodes, facts, kH800, "training", training_nodes);
  add_pool(nodes, facts, kH20, "rollout", rollout_nodes);
  const Quantity latency = assumed(kLatency_s, "not in the paper");
  const LinkRate fabric{latency, datasheet(kFabric, kWeave)};
  LinkRate trunk{latency, datasheet(kBetweenPools, kWeave)};
  trunk.capacity_bytes_per_s = trunk.bytes_per_s;
  std::map<std::string, DeviceType> types{{kH800, weave_gpu(facts, kH800, 989.5e12, 3.35e12, 5.28)}};
  if (rollout_nodes > 0) types.emplace(kH20, weave_gpu(facts, kH20, 148e12, 4e12, 1.85));
  std::string name = std::to_string(kNodeGpus * training_nodes) + " H800";
  if (rollout_nodes > 0) name += " + " + std::to_string(kNodeGpus * rollout_nodes) + " H20";
  return Cluster(name, types, nodes,
                 {{LinkLevel::within_node, facts.gpu(kH800).within_node},
                  {LinkLevel::within_zone, fabric},
                  {LinkLevel::within_region, trunk},
                  {LinkLevel::between_regions, trunk}});
}

// Tensor parallelism of Table 2.
struct Sized {
  const char* size;
  const char* model;
  int training_tp, rollout_tp;
  int training_pp = 1;
};
constexpr Sized k7b{"7B", "Qwen2.5-7B", 2, 1}, k14b{"14B", "Qwen2.5-14B", 2, 1},
    k32b{"32B", "Qwen2.5-32B", 8, 2}, k70b{"70B", "Llama-3.1-70B", 8, 8, 4};

constexpr double kLongest = 8192;

Workflow weave_workflow(const Facts& facts, const Sized& sized, double mean_tokens = 0.4 * kLongest) {
  constexpr int kPrompts = 32, kResponses = 8;
  constexpr double kPromptTokens = 120, kSigma = 0.8;
  Workflow workflow;
  workflow.name = sized.size + std::string(" grpo");
  workflow.algorithm = Algorithm::grpo;
  workflow.mode = Mode::synchronous;
  workflow.tasks = grpo_tasks(false);
  const Model& model = facts.model(sized.model);
  workflow.models = {{"actor", model}, {"reference", model}};
  workflow.prompts = kPrompts;
  workflow.responses_per_prompt = kResponses;
  workflow.prompt_tokens = fixed_length(kPromptTokens);
  workflow.response_tokens = lengths_with_mean(mean_tokens, kSigma, kLongest);
  return workflow;
}

TaskPlan spread_over(const Workflow& workflow, const Task& task, int tensor_parallel, int first, int gpus,
                     int pipeline_parallel = 1) {
  UniformLayout layout;
  layout.data_parallel = gpus / tensor_parallel / pipeline_parallel;
  layout.pipeline_parallel = pipeline_parallel;
  layout.tensor_parallel = tensor_parallel;
  layout.first = DeviceId{first};
  TaskPlan plan;
  plan.replicas = expand_layout(layout, workflow.model_of(task).layers);
  plan.micro_batch_sequences = 1;
  plan.recompute = Recompute::full;
  return plan;
}

// Generation from the device `rollout_first` on, everything else from the first device on, each on that many GPUs.
Plan plan_of(const Workflow& workflow, const Sized& sized, int gpus, int rollout_first,
             WeightSyncMethod method) {
  Plan plan{"as printed", {}, {}, {method}};
  const std::vector<Execution> executions = usual_executions(workflow);
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const Task& task = workflow.tasks[t];
    const bool generates = task.kind == TaskKind::generation;
    TaskPlan one = spread_over(workflow, task, generates ? sized.rollout_tp : sized.training_tp,
                               generates ? rollout_first : 0, gpus);
    one.execution = executions[t];
    plan.tasks.emplace(task.name, std::move(one));
  }
  return plan;
}

constexpr const char* kAlone = "alone";
constexpr const char* kTopologyAware = "topology-aware";
constexpr const char* kFlat = "every GPU its own copy";
constexpr const char* kPerNode = "a copy for each node";

Contestant printed_plan(const char* name, Plan plan) {
  return {name, "", ContestantPlacement::published, std::move(plan)};
}

// Solo disaggregation and the ideal of Table 4.
void add_solo(Study& study, const Facts& facts, const Sized& sized, int nodes, double solo_s, double ideal_s) {
  const int gpus = nodes * kNodeGpus;
  const auto add = [&](const char* kind, int rollout_nodes, double mean_tokens, const char* group,
                       double printed_s) {
    const Workflow workflow = weave_workflow(facts, sized, mean_tokens);
    const std::string name = std::string("alone/") + sized.size + "/" + kind;
    study.cells.push_back({name,
                           two_pools(facts, nodes, rollout_nodes),
                           workflow,
                           {},
                           {printed_plan(kAlone, plan_of(workflow, sized, gpus, rollout_nodes > 0 ? gpus : 0,
                                                         WeightSyncMethod::topology_aware))}});
    study.figures.push_back(
        {group, "WEAVE, Table 4", Measure::iteration_s, {name, kAlone}, std::nullopt, printed_s, printed_s});
  };
  add("two-pools", nodes, 0.4 * kLongest, "iteration of a job alone on its own pools", solo_s);
  add("h800", 0, 0.4 * kLongest, "iteration of a job alone, all phases on H800", ideal_s);
  add("two-pools, longest responses", nodes, kLongest,
      "iteration of a job alone on its own pools, every response as long as allowed", solo_s);
  add("h800, longest responses", 0, kLongest,
      "iteration of a job alone, all phases on H800, every response as long as allowed", ideal_s);
}

// Figure 13: the weight sync from `nodes` H800 nodes to as many H20 nodes.
void add_sync(Study& study, const Facts& facts, const Sized& sized, int nodes, double low, double high) {
  const Workflow workflow = weave_workflow(facts, sized);
  const int gpus = nodes * kNodeGpus;
  const std::string name = "sync-" + std::to_string(gpus) + "/" + sized.size;
  StudyCell cell{name, two_pools(facts, nodes, nodes), workflow, {}, {}};
  for (const auto& [contestant, method] :
       {std::pair{kTopologyAware, WeightSyncMethod::topology_aware}, std::pair{kFlat, WeightSyncMethod::flat}})
    cell.contestants.push_back(printed_plan(contestant, plan_of(workflow, sized, gpus, gpus, method)));
  Sized wide = sized;
  wide.rollout_tp = kNodeGpus;  // one replica a node, which fetches one copy
  if (nodes > 1)
    cell.contestants.push_back(
        printed_plan(kPerNode, plan_of(workflow, wide, gpus, gpus, WeightSyncMethod::per_replica)));
  study.cells.push_back(std::move(cell));
  const char* group = nodes == 1 ? "weight sync, one node each: veRL over topology-aware"
                                 : "weight sync, two nodes each: veRL over topology-aware";
  study.figures.push_back({group,
                           "WEAVE, section 6.3 and Figure 13",
                           Measure::weight_sync_s,
                           {name, kFlat},
                           Side{name, kTopologyAware},
                           low,
                           high});
  if (nodes > 1)
    study.figures.push_back({"weight sync, two nodes each: a copy for each node over topology-aware",
                             "WEAVE, section 6.3 and Figure 13",
                             Measure::weight_sync_s,
                             {name, kPerNode},
                             Side{name, kTopologyAware},
                             low,
                             high});
}

// The bytes that all GPUs of the first node of a pool hold while other jobs run: weights, gradients and optimizer states.
double node_state_bytes(const Prediction& prediction, int first_gpu, double context_bytes) {
  double bytes = 0;
  for (const DeviceMemory& memory : prediction.memory) {
    if (memory.device.value >= first_gpu && memory.device.value < first_gpu + kNodeGpus)
      bytes += memory.resident_bytes - context_bytes;
  }
  return bytes;
}

// Training on as many nodes as a replica needs, generation on one, without a reference model: Table 2 is of actors.
void add_states_of(ReproducedExperiment& out, const Facts& facts, const Sized& sized, double rollout_gb,
                   double training_gb) {
  Workflow workflow = weave_workflow(facts, sized);
  const int training_gpus = std::max(kNodeGpus, sized.training_tp * sized.training_pp);
  workflow = part_of(workflow, [](const Task& task) { return task.kind != TaskKind::inference; });
  Plan plan{"as printed", {}, {}, {WeightSyncMethod::topology_aware}};
  const std::vector<Execution> executions = usual_executions(workflow);
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const Task& task = workflow.tasks[t];
    TaskPlan one = task.kind == TaskKind::generation
                       ? spread_over(workflow, task, sized.rollout_tp, training_gpus, kNodeGpus)
                       : spread_over(workflow, task, sized.training_tp, 0, training_gpus, sized.training_pp);
    one.execution = executions[t];
    plan.tasks.emplace(task.name, std::move(one));
  }
  const Coefficients neutral;
  const double context_bytes = neutral.value(CoefficientId::memory_context_bytes);
  const Prediction prediction =
      predict(two_pools(facts, training_gpus / kNodeGpus, 1), workflow, plan, neutral);
  constexpr double kGigabyte = 1e9;
  const weave::Printed printed{"host memory of a suspended phase on a node", "WEAVE, Table 2", "GB"};
  const auto add = [&](const char* phase, int first_gpu, double published_gb) {
    const double gb = node_state_bytes(prediction, first_gpu, context_bytes) / kGigabyte;
    weave::add_finding(out, printed, std::string(phase) + " " + sized.size, gb, published_gb, published_gb,
                       "printed are " + format_number((published_gb - gb) / kNodeGpus) +
                           " GB more on each GPU than weights, gradients and optimizer states");
  };
  add("rollout", training_gpus, rollout_gb);
  add("training", 0, training_gb);
}

}  // namespace

void weave::add_states(ReproducedExperiment& out, const Facts& facts) {
  add_states_of(out, facts, k7b, 275.7, 240);
  add_states_of(out, facts, k14b, 445.4, 456.1);
  add_states_of(out, facts, k32b, 490.3, 520.4);
  add_states_of(out, facts, k70b, 391.2, 458.7);
}

Study lab::weave_study(const Facts& facts) {
  Study study{"weave",
              "WEAVE: Efficient Co-Scheduling for Disaggregated RL Post-Training (Wu et al.)",
              "verl-megatron",
              {},
              {},
              {}};
  add_solo(study, facts, k7b, 1, 257.7, 240.8);
  add_solo(study, facts, k32b, 2, 574.6, 516.7);
  add_sync(study, facts, k7b, 1, 7.87, 8.33);
  add_sync(study, facts, k14b, 1, 7.87, 8.33);
  add_sync(study, facts, k14b, 2, 2.62, 2.75);
  add_sync(study, facts, k32b, 2, 2.62, 2.75);
  study.measures = [facts](ReproducedExperiment& out, std::uint64_t seed) {
    weave::add_states(out, facts);
    weave::add_micro_benchmarks(out, facts);
    weave::add_two_weeks(out, seed);
    weave::add_scheduler(out, seed);
  };
  study.assumptions = weave::assumptions();
  study.causes = weave::causes();
  study.contradictions = weave::contradictions();
  return study;
}

}  // namespace sextant
