#include "planner/exact/longest_response.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "costmodel/terms/kernels.h"
#include "costmodel/terms/tensor_parallel.h"
#include "sextant/rollout.h"

namespace sextant::inline planner {
namespace {

// True if places of finished responses are refilled without an end, so that no iteration waits for the longest
// response (plan_decoding in costmodel/problem/work.cpp).
bool refills_without_end(const TaskWork& work, const Workflow& workflow, const RolloutBatch& batch) {
  const bool never_drains = workflow.mode == Mode::asynchronous && workflow.staleness > 0;
  return never_drains || (workflow.rollout.unfinished == Unfinished::resumed && batch.unfinished() > 0) ||
         !work.execution().continuous_batching;
}

// Minimum over the types of devices.
template <typename Value>
double min_of(const std::vector<DeviceId>& types, Value value) {
  double minimum = std::numeric_limits<double>::infinity();
  for (const DeviceId device : types) minimum = std::min(minimum, value(device));
  return minimum;
}

// The minimum times of one step, each over all stages of a replica.
struct StepTimes {
  double read_s = 0;    // weights on one device
  double layers_s = 0;  // kernels of all layers
  double scheduling_s = 0;
  double latencies = 0;  // number of collectives of a group of several devices
  double latency_weight = 0;
};

StepTimes step_times(const Problem<double>& frame, const TaskWork& work, const std::vector<DeviceId>& types) {
  const Model& model = *work.model;
  const auto minimum = [&](CoefficientId id) {
    return min_of(types, [&](DeviceId d) { return frame.coefficient(id, d); });
  };
  const double dense = model.layers * (model.layer_parameters() - model.layer_expert_parameters());
  StepTimes step;
  step.read_s = min_of(types, [&](DeviceId d) {
    return (work.weight_bytes * dense + work.element_bytes * model.head_parameters()) /
           (frame.coefficient(CoefficientId::decode_bandwidth_efficiency, d) *
            frame.hardware.memory_bytes_per_s(d));
  });
  const CoefficientId layer = work.execution().cuda_graphs ? CoefficientId::decode_graph_layer_overhead_s
                                                           : CoefficientId::decode_layer_overhead_s;
  step.layers_s = terms::layer_kernels(work) * model.layers * minimum(layer);
  step.scheduling_s = minimum(CoefficientId::decode_step_overhead_s);
  // Replicas that share experts gather around them in place of a collective of the layer (terms/decode.h).
  step.latencies =
      (terms::all_reduces_per_layer(model, false, Recompute::none) - model.expert_share()) * model.layers;
  step.latency_weight = frame.coefficient(CoefficientId::decode_latency_weight);
  return step;
}

}  // namespace

MinLatencies min_latencies(const Cluster& cluster) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  MinLatencies minimum{1, kNone, kNone};
  for (const Node& node : cluster.nodes()) {
    minimum.node_devices = std::max(minimum.node_devices, node.devices);
    if (node.link) minimum.any_s = std::min(minimum.any_s, node.link->latency_s.value);
  }
  for (const auto& [level, rate] : cluster.levels()) {
    minimum.any_s = std::min(minimum.any_s, rate.latency_s.value);
    if (level != LinkLevel::within_node)
      minimum.between_nodes_s = std::min(minimum.between_nodes_s, rate.latency_s.value);
  }
  for (const LinkException& exception : cluster.exceptions()) {
    minimum.any_s = std::min(minimum.any_s, exception.rate.latency_s.value);
    minimum.between_nodes_s = std::min(minimum.between_nodes_s, exception.rate.latency_s.value);
  }
  return minimum;
}

double min_decode_steps(const TaskWork& work, const Workflow& workflow) {
  const Execution& execution = work.execution();
  const RolloutBatch batch = rollout_batch(workflow);
  const Lengths& response = batch.response_tokens(workflow);
  if (!execution.packed && !execution.continuous_batching) return batch.rounds * response.max_tokens();
  if (!refills_without_end(work, workflow, batch)) {
    const double together = workflow.sequences() * batch.generated / batch.rounds;
    return batch.rounds * response.longest_of(std::max(1.0, together));
  }
  const double batches = workflow.mode == Mode::synchronous ? 1 : std::max(1.0, workflow.staleness);
  const double on_their_way = std::max(batches, batch.started * batch.rounds / batch.generated);
  return batch.rounds * response.mean_tokens() / on_their_way;
}

double min_longest_response_s(const Problem<double>& frame, const TaskWork& work,
                              const std::vector<DeviceId>& types, const MinLatencies& latencies) {
  const StepTimes step = step_times(frame, work, types);
  const double serialized = std::min(1.0, frame.coefficient(CoefficientId::decode_serialization_weight));
  const int devices = frame.cluster().device_count();
  double minimum_s = std::numeric_limits<double>::infinity();
  for (int degree = 1; degree <= std::min(devices, work.model->heads); ++degree) {
    if (work.model->heads % degree != 0) continue;
    const double latency_s = degree > 1 ? step.latency_weight * step.latencies * latencies.of_group(degree) : 0;
    const double device_s = step.read_s / degree + latency_s;
    // Without graphs the host launches kernels in parallel with the device's work.
    const double all_stages_s =
        step.scheduling_s +
        (work.execution().cuda_graphs ? device_s + step.layers_s : std::max(device_s, step.layers_s));
    const double stages = std::min(work.model->layers, devices / degree);
    minimum_s = std::min(minimum_s, all_stages_s * (serialized + (1 - serialized) / stages));
  }
  return min_decode_steps(work, frame.workflow) * minimum_s;
}

}  // namespace sextant::inline planner
