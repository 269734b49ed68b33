#include "costmodel/memory.h"

#include "costmodel/terms/data_parallel.h"

namespace sextant {
namespace {

const Stage& stage_of(const TaskWork& task, int replica, int stage) {
  return task.plan->replicas[static_cast<std::size_t>(replica)].stages[static_cast<std::size_t>(stage)];
}

int stages_of(const TaskWork& task, int replica) {
  return task.plan->replicas[static_cast<std::size_t>(replica)].pipeline_parallel();
}

struct States {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  [[nodiscard]] double total() const { return weights + gradients + optimizer; }
};

States states_of(const TaskWork& task, int replica, int stage) {
  const double held = held_parameters(task, replica, stage);
  const Execution& execution = task.execution();
  const double shards = static_cast<double>(task.plan->data_parallel()) * execution.context_parallel;
  const bool shards_weights = execution.zero_stage == 3 && task.kind() != TaskKind::generation;
  States states;
  const Stage& layout = stage_of(task, replica, stage);
  const double experts = layout.layers * task.model->layer_expert_parameters() /
                         expert_width(execution, task.plan->tensor_parallel(layout));
  states.weights = (task.weight_bytes * held + (task.expert_weight_bytes - task.weight_bytes) * experts) /
                   (shards_weights ? shards : 1.0);
  if (task.kind() != TaskKind::training) return states;
  const double trained =
      execution.lora_rank > 0
          ? terms::trainable_parameters(task, layout.layers, false, false) / task.plan->tensor_parallel(layout)
          : held;
  if (execution.lora_rank > 0) states.weights += task.weight_bytes * trained;
  const double moments = 8;
  const double master = task.weight_bytes >= 4 ? 0 : 4;
  states.gradients = task.weight_bytes * trained / (execution.zero_stage >= 2 ? shards : 1.0);
  states.optimizer = (moments + master) * trained / (execution.zero_stage >= 1 ? shards : 1.0);
  return states;
}

// Kept for the backward pass by one layer for one token.
double kept_elements(const TaskWork& task, double tensor_parallel, Recompute recompute) {
  const Model& model = *task.model;
  const double hidden = model.hidden / (task.execution().sequence_parallel ? tensor_parallel : 1.0);
  if (recompute == Recompute::full) return hidden;
  const double attention = (2.0 * model.heads + 2.0 * model.kv_heads) * model.head_dim;
  double mlp = (model.gated_mlp ? 3.0 : 2.0) * model.intermediate;
  if (model.experts) {
    mlp = (model.gated_mlp ? 3.0 : 2.0) *
          (static_cast<double>(model.experts->active_per_token) * model.experts->intermediate +
           model.experts->shared_intermediate);
  }
  const bool keeps_scores = !task.execution().fused_attention && recompute == Recompute::none;
  const double scores = keeps_scores ? model.attended_tokens(task.sequence_tokens()) * model.heads : 0.0;
  return 4.0 * hidden + (attention + mlp + scores) / tensor_parallel;
}

double logit_elements(const TaskWork& task, int replica, int stage) {
  if (stage + 1 < stages_of(task, replica)) return 0;
  if (task.model->value_head) return 1;
  return task.model->vocabulary /
         static_cast<double>(task.plan->tensor_parallel(stage_of(task, replica, stage)));
}

double cache_bytes(const TaskWork& task, int replica, int stage) {
  const ReplicaWork& share = task.replicas[static_cast<std::size_t>(replica)];
  const Stage& layout = stage_of(task, replica, stage);
  const double in_flight = std::min(share.decode_waves, static_cast<double>(stages_of(task, replica)));
  const double cache = in_flight * share.cached_tokens * layout.layers *
                       task.model->kv_cache_elements_per_token() * task.cache_bytes / cache_split(task, layout);
  if (task.execution().kv_cache_bytes > 0) return std::min(cache, task.execution().kv_cache_bytes);
  return cache;
}

double micro_batches_in_flight(const TaskWork& task, int replica, int stage) {
  const ReplicaWork& share = task.replicas[static_cast<std::size_t>(replica)];
  const double stages = stages_of(task, replica), chunks = task.execution().virtual_stages;
  double in_flight = stages - stage;
  if (chunks > 1) in_flight *= 1.0 + (stages - 1.0) / (stages * chunks);
  return std::min(in_flight, share.micro_batches / task.mini_batches);
}

// Tokens of one micro-batch on one device.
double micro_batch_tokens(const TaskWork& task, int replica) {
  const ReplicaWork& share = task.replicas[static_cast<std::size_t>(replica)];
  return share.micro_batch_sequences * task.sequence_tokens() / task.execution().context_parallel;
}

void add_working_set(const TaskWork& task, int replica, int stage, StageMemory& memory) {
  const Stage& layout = stage_of(task, replica, stage);
  const ReplicaWork& share = task.replicas[static_cast<std::size_t>(replica)];
  const double logits = logit_elements(task, replica, stage), bytes = task.element_bytes;
  if (task.kind() == TaskKind::generation) {
    memory.activation_bytes = cache_bytes(task, replica, stage);
    memory.logit_bytes = bytes * share.decode_together * logits;
    return;
  }
  const double tokens = micro_batch_tokens(task, replica);
  const double one_layer = kept_elements(task, task.plan->tensor_parallel(layout), Recompute::none);
  memory.logit_bytes = bytes * tokens * logits;
  if (task.kind() == TaskKind::inference) {
    memory.activation_bytes = bytes * tokens * one_layer;
    return;
  }
  const double in_flight = micro_batches_in_flight(task, replica, stage);
  double kept =
      in_flight * layout.layers * kept_elements(task, task.plan->tensor_parallel(layout), task.plan->recompute);
  if (task.execution().offload_activations) {  // one layer's at a time
    const double away = offloaded_share(task.execution(), layout.layers);
    kept *= 1.0 - away + away / layout.layers;
  }
  if (stage == 0) {  // the embedding's output
    kept += in_flight * kept_elements(task, task.plan->tensor_parallel(layout), Recompute::full);
  }
  if (task.plan->recompute == Recompute::full) kept += one_layer;
  memory.activation_bytes = bytes * tokens * kept;
}

}  // namespace

double offloaded_share(const Execution& execution, double layers) {
  const int offloaded = execution.offload_activation_layers;
  return offloaded > 0 ? std::min(1.0, offloaded / layers) : 1.0;
}

double held_parameters(const TaskWork& task, int replica, int stage) {
  const Stage& layout = stage_of(task, replica, stage);
  const double tp = task.plan->tensor_parallel(layout);
  const double all =
      slice_parameters(*task.model, layout.layers, stage == 0, stage + 1 == stages_of(task, replica));
  const double experts = layout.layers * task.model->layer_expert_parameters();
  const double width = expert_width(task.execution(), tp);
  return (all - experts) / tp + experts / width;
}

StageMemory stage_memory(const TaskWork& task, int replica, int stage) {
  const States states = states_of(task, replica, stage);
  const Execution& execution = task.execution();
  StageMemory memory;
  if (execution.offload_weights) {
    memory.host_bytes = states.total();
    memory.loaded_bytes = execution.offload_optimizer ? states.weights + states.gradients : states.total();
  } else if (execution.offload_optimizer) {
    memory.host_bytes = states.optimizer;
    memory.state_bytes = states.weights + states.gradients;
  } else {
    memory.state_bytes = states.total();
  }
  add_working_set(task, replica, stage, memory);
  return memory;
}

double offloaded_bytes(const TaskWork& task, int replica, int stage) {
  return stage_memory(task, replica, stage).loaded_bytes;
}

double micro_batch_activation_bytes(const TaskWork& task, int replica, int stage) {
  const Stage& layout = stage_of(task, replica, stage);
  return task.element_bytes * micro_batch_tokens(task, replica) * layout.layers *
         kept_elements(task, task.plan->tensor_parallel(layout), task.plan->recompute);
}

std::vector<DeviceMemory> plan_memory(std::span<const TaskWork> works, const Cluster& cluster,
                                      const CoefficientValues<double>& values,
                                      const Hardware<double>& hardware) {
  const auto type_index = [&](DeviceId device) { return hardware.type_index(device); };
  std::vector<DeviceMemory> all;
  for (const auto& [device, memory] : device_memory(works, values, type_index, true)) {
    all.push_back(
        {device, cluster.type_of(device).memory_bytes.value, memory.resident_bytes, memory.working_bytes});
  }
  return all;
}

std::vector<DeviceMemory> plan_memory(const Workflow& workflow, const Plan& plan, const Cluster& cluster) {
  const Hardware<double> hardware(cluster);
  const CoefficientValues<double> neutral(hardware.type_count());
  return plan_memory(works_of(workflow, plan, cluster), cluster, neutral, hardware);
}

std::vector<HostMemory> host_memory(std::span<const TaskWork> works, const Cluster& cluster) {
  std::map<NodeId, double> by_node;
  for (const TaskWork& task : works) {
    for (std::size_t i = 0; i < task.replicas.size(); ++i) {
      const std::vector<Stage>& stages = task.plan->replicas[i].stages;
      for (std::size_t j = 0; j < stages.size(); ++j) {
        const double bytes = stage_memory(task, static_cast<int>(i), static_cast<int>(j)).host_bytes;
        if (bytes == 0) continue;
        for (const DeviceId device : stages[j].devices) by_node[cluster.node_of(device)] += bytes;
      }
    }
  }
  std::vector<HostMemory> all;
  all.reserve(by_node.size());
  for (const auto& [node, bytes] : by_node) {
    all.push_back({cluster.nodes()[node.index()].name, cluster.nodes()[node.index()].host_memory_bytes, bytes});
  }
  return all;
}

}  // namespace sextant
