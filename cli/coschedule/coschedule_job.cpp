#include "cli/coschedule/coschedule_job.h"

#include <algorithm>
#include <map>
#include <set>

#include "cli/shared/notes.h"
#include "sextant/error.h"
#include "sextant/predict.h"

namespace sextant::cli {
namespace {

// Time of both phases of an iteration.
struct PredictedPhases {
  double rollout_s = 0, training_s = 0, sync_s = 0;
};

PredictedPhases phases_predicted(const Workflow& workflow, const Prediction& prediction) {
  PredictedPhases times;
  times.rollout_s = prediction.tasks.at(workflow.actor_generation().name).time_s + prediction.rule_reward_s;
  times.sync_s = prediction.weight_sync_s + prediction.data_s;
  times.training_s = prediction.iteration_s - times.rollout_s - times.sync_s;
  return times;
}

Workflow with_longest_responses(Workflow workflow) {
  Lengths& lengths = workflow.response_tokens;
  const double tokens = lengths.max_tokens();
  lengths = {};
  lengths.kind = LengthKind::fixed;
  lengths.tokens = {tokens};
  return workflow;
}

Workflow with_prompt_environments(Workflow workflow) {
  workflow.environment_s_per_turn = 0;
  workflow.rollout.environment_deviation_s_per_turn = 0;
  workflow.rollout.environments = 0;
  return workflow;
}

// The 90 % intervals of both phases. That of training, which is what rollout and transfers leave of an iteration, has the
// relative width of the whole iteration's.
void set_intervals(const Workflow& workflow, const Prediction& prediction, coschedule::Job& job) {
  job.rollout_interval_s = prediction.tasks.at(workflow.actor_generation().name).interval_s;
  if (job.rollout_interval_s) {
    job.rollout_interval_s->low += prediction.rule_reward_s;
    job.rollout_interval_s->high += prediction.rule_reward_s;
  }
  if (!prediction.iteration_interval_s) return;
  const double scale = job.training_s / prediction.iteration_s;
  job.training_interval_s =
      Interval{prediction.iteration_interval_s->low * scale, prediction.iteration_interval_s->high * scale};
}

std::set<NodeId> nodes_of(const Cluster& cluster, const std::set<DeviceId>& devices) {
  std::set<NodeId> nodes;
  for (const DeviceId device : devices) nodes.insert(cluster.node_of(device));
  return nodes;
}

// Throws Error(bad_input) if there are several: the nodes of a pool are of one type.
std::string only_type_of(const Cluster& cluster, const std::set<DeviceId>& devices, const char* phase,
                         const std::string& plan) {
  std::set<std::string> types;
  for (const DeviceId device : devices) types.insert(cluster.type_name(device));
  if (types.size() == 1) return *types.begin();
  throw_bad_input(plan + ": " + phase + " uses GPUs of several types, " + *types.begin() + " and " +
                  *types.rbegin() + "; a pool has one");
}

// The states that the host of a node holds and the time that its links need for them; the largest of some nodes. What the
// plan itself offloads is in the host all the time, and its way back is part of the phase.
struct Suspended {
  double host_bytes = 0, warm_start_s = 0;
};

// A device's runtime and the KV cache stay or are dropped.
Suspended suspended_on(const LoadedInputs& loaded, const Prediction& prediction, const std::set<NodeId>& nodes,
                       double dropped_bytes) {
  const Cluster& cluster = loaded.cluster;
  std::map<NodeId, double> bytes;
  Suspended largest;
  for (const NodeId node : nodes) {
    const std::string& name = cluster.nodes()[node.index()].name;
    for (const HostMemory& memory : prediction.host_memory) {
      if (memory.node == name) bytes[node] = memory.needed_bytes;
    }
  }
  for (const DeviceMemory& memory : prediction.memory) {
    const NodeId node = cluster.node_of(memory.device);
    if (!nodes.contains(node)) continue;
    const double context_bytes = loaded.chosen.coefficients.value(
        CoefficientId::memory_context_bytes, cluster.type_name(memory.device), loaded.chosen.framework);
    const double held = std::max(0.0, memory.resident_bytes - context_bytes - dropped_bytes);
    bytes[node] += held;
    if (const std::optional<Quantity>& rate = cluster.type_of(memory.device).host_bytes_per_s)
      largest.warm_start_s = std::max(largest.warm_start_s, held / rate->value);
  }
  for (const auto& [node, held] : bytes) largest.host_bytes = std::max(largest.host_bytes, held);
  return largest;
}

// Lengths of the workflow, with shares for which typical phases take what the model predicts for them. environment_s: of
// both rollouts.
coschedule::Responses responses_of(const Workflow& workflow, const TaskPlan& generation,
                                   const PredictedPhases& bounds, const PredictedPhases& typical,
                                   double environment_s) {
  coschedule::Responses responses;
  responses.tokens = workflow.response_tokens;
  responses.count = std::max(1, workflow.sequences());
  responses.workers = static_cast<int>(generation.replicas.size());
  const double max = responses.tokens.max_tokens(), mean = responses.tokens.mean_tokens() / max,
               longest = responses.tokens.longest_of(responses.count) / max;
  if (mean >= 1) return responses;
  if (longest > mean)
    responses.batch_share = std::clamp(
        (longest - (typical.rollout_s - environment_s) / (bounds.rollout_s - environment_s)) / (longest - mean),
        0.0, 1.0);
  responses.fixed_training_share =
      std::clamp((typical.training_s / bounds.training_s - mean) / (1 - mean), 0.0, 1.0);
  return responses;
}

}  // namespace

coschedule::Job job_of(const JobQuestion& question) {
  const LoadedInputs loaded = load(question.inputs);
  say(loaded.chosen.notes);
  const Workflow& workflow = loaded.workflow;
  if (workflow.algorithm == Algorithm::custom || workflow.mode != Mode::synchronous)
    throw_bad_input(
        "coschedule job: jobs share nodes while they wait, so the workflow must be synchronous PPO or GRPO");
  const Plan plan = load_plan_aloud(question.plan, loaded);
  std::set<DeviceId> training;
  for (const Task& task : workflow.tasks) {
    if (task.kind != TaskKind::generation) training.merge(plan.tasks.at(task.name).devices());
  }
  const TaskPlan& generation = plan.tasks.at(workflow.actor_generation().name);
  const std::set<NodeId> rollout_nodes = nodes_of(loaded.cluster, generation.devices()),
                         training_nodes = nodes_of(loaded.cluster, training);
  for (const NodeId node : rollout_nodes) {
    if (training_nodes.contains(node))
      throw_bad_input(question.plan + ": generation and other tasks share node \"" +
                      loaded.cluster.nodes()[static_cast<std::size_t>(node.value)].name +
                      "\"; in pools they have nodes of their own");
  }
  const auto predicted = [&](const Workflow& of) {
    return predict(loaded.cluster, of, plan, loaded.chosen.coefficients, loaded.chosen.framework);
  };
  const Workflow longest = with_longest_responses(workflow);
  const Prediction bound = predict_with_trust(
                       {loaded.cluster, longest, plan, loaded.chosen.coefficients, loaded.chosen.framework}),
                   usual = predicted(workflow);
  const PredictedPhases bounds = phases_predicted(longest, bound), typical = phases_predicted(workflow, usual);
  const bool keeps_cache = !generation.execution.offload_weights;
  const Suspended rollout = suspended_on(loaded, bound, rollout_nodes,
                                         keeps_cache ? generation.execution.kv_cache_bytes : 0),
                  trained = suspended_on(loaded, bound, training_nodes, 0);
  coschedule::Job job;
  job.name = question.name;
  job.rollout_node_type = only_type_of(loaded.cluster, generation.devices(), "generation", question.plan);
  job.training_node_type = only_type_of(loaded.cluster, training, "training", question.plan);
  job.rollout_s = bounds.rollout_s;
  job.training_s = bounds.training_s;
  job.sync_s = bounds.sync_s;
  job.rollout_nodes = static_cast<int>(rollout_nodes.size());
  job.training_nodes = static_cast<int>(training_nodes.size());
  job.max_slowdown = question.max_slowdown;
  job.rollout_host_bytes = rollout.host_bytes;
  job.training_host_bytes = trained.host_bytes;
  job.rollout_warm_start_s = rollout.warm_start_s;
  job.training_warm_start_s = trained.warm_start_s;
  set_intervals(longest, bound, job);
  if (workflow.turns > 1) {
    const Workflow prompt = with_prompt_environments(longest);
    job.turns = workflow.turns;
    job.environment_s_per_turn =
        (bounds.rollout_s - phases_predicted(prompt, predicted(prompt)).rollout_s) / (job.turns - 1);
  }
  const double environment_s = job.environment_s();
  job.responses = responses_of(workflow, generation, bounds, typical, environment_s);
  job.typical_fraction = std::min(1.0, (typical.rollout_s + typical.training_s - environment_s) /
                                           (bounds.rollout_s + bounds.training_s - environment_s));
  return job;
}

}  // namespace sextant::cli
