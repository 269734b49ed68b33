#include "costmodel/terms/memory.h"

#include <algorithm>
#include <tuple>

#include "costmodel/terms/data_parallel.h"

namespace sextant::inline costmodel {
namespace {

const Stage& stage_of(const TaskWork& task, int replica, int stage) {
  return task.plan->replicas[static_cast<std::size_t>(replica)].stages[static_cast<std::size_t>(stage)];
}

int stages_of(const TaskWork& task, int replica) {
  return task.plan->replicas[static_cast<std::size_t>(replica)].pipeline_parallel();
}

constexpr double kFp32Bytes = 4;

struct States {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double handed_over = 0;  // of an optimizer on the host: gradients that come in, weights that go back
  [[nodiscard]] double total() const { return weights + gradients + optimizer; }
  // Weights, and gradients if they are copied.
  [[nodiscard]] double copied(const Execution& execution) const {
    return weights + (execution.offload_gradients ? gradients : 0);
  }
};

// Numbers of one stage on one device. Those of routed experts stand apart, because they are distributed over
// their own devices, have fewer copies and may be stored in a format of their own.
struct Held {
  double shared = 0;
  double experts = 0;
};

Held held_by_part(const TaskWork& task, int replica, int stage) {
  const Stage& layout = stage_of(task, replica, stage);
  const double tp = task.plan->tensor_parallel(layout);
  const double all =
      slice_parameters(*task.model, layout.layers, stage == 0, stage + 1 == stages_of(task, replica));
  const double experts = layout.layers * task.model->layer_expert_parameters();
  return {(all - experts) / tp, experts / expert_width(task.execution(), tp)};
}

Held adapters_by_part(const TaskWork& task, int replica, int stage) {
  const Stage& layout = stage_of(task, replica, stage);
  const double tp = task.plan->tensor_parallel(layout);
  const double all = terms::trainable_parameters(task, layout.layers, false, false);
  const double experts = terms::trainable_expert_parameters(task, layout.layers);
  return {(all - experts) / tp, experts / expert_width(task.execution(), tp)};
}

// Devices that hold the same weights, over which ZeRO divides them and their states: replicas and
// context-parallel parts, of which several together hold the experts once.
Held copies_of(const TaskWork& task, int replica, int stage) {
  const double parts = task.sharding_devices();
  const double tp = task.plan->tensor_parallel(stage_of(task, replica, stage));
  return {parts, std::max(1.0, parts * tp / expert_width(task.execution(), tp))};
}

// Bytes of a format that a plan may state.
double bytes_or(const std::optional<Precision>& stated, double otherwise) {
  return stated ? bytes_per_element(*stated) : otherwise;
}

void add_trained(const Execution& execution, double parameters, double bytes, double copies, States& states) {
  const double moments = 2 * bytes_or(execution.moment_precision, kFp32Bytes);
  const double master = execution.master_weights && bytes < kFp32Bytes ? kFp32Bytes : 0;
  const double gradient = bytes_or(execution.main_gradient_precision, bytes);
  const double optimized = parameters / (execution.zero_stage >= 1 ? copies : 1.0);
  states.weights += bytes * parameters / (execution.zero_stage >= 3 ? copies : 1.0);
  states.gradients += gradient * parameters / (execution.zero_stage >= 2 ? copies : 1.0);
  states.optimizer += (moments + master) * optimized;
  states.handed_over += (kFp32Bytes + bytes) * optimized;
}

States states_of(const TaskWork& task, int replica, int stage) {
  const Execution& execution = task.execution();
  const Held held = held_by_part(task, replica, stage), copies = copies_of(task, replica, stage);
  States states;
  if (task.kind() == TaskKind::training && execution.lora_rank == 0) {
    add_trained(execution, held.shared, task.weight_bytes, copies.shared, states);
    add_trained(execution, held.experts, task.expert_weight_bytes, copies.experts, states);
    return states;
  }
  const bool shards = execution.zero_stage == 3 && task.kind() != TaskKind::generation;
  states.weights = task.weight_bytes * held.shared / (shards ? copies.shared : 1.0) +
                   task.expert_weight_bytes * held.experts / (shards ? copies.experts : 1.0);
  if (task.kind() != TaskKind::training) return states;
  const Held adapters = adapters_by_part(task, replica, stage);
  add_trained(execution, adapters.shared, task.weight_bytes, copies.shared, states);
  add_trained(execution, adapters.experts, task.weight_bytes, copies.experts, states);
  return states;
}

// Elements of one layer that its backward pass needs of one token: all of them, or those that are kept.
double kept_elements(const TaskWork& task, const ReplicaWork& work, double tensor_parallel,
                     Recompute recompute) {
  const Model& model = *task.model;
  const double hidden = model.hidden / (task.execution().sequence_parallel ? tensor_parallel : 1.0);
  if (recompute == Recompute::full) return hidden;
  // Fused kernels keep a norm's input and output, and gate, up and product of the MLP. Modules of the model's code also
  // keep the input in fp32 and the normalised values of each norm, and the activated gate.
  const bool fused = !task.execution().eager_layers;
  const double of_norm = fused ? 2.0 : 2.0 + kFp32Bytes / task.element_bytes;
  const double norms = model.parts_per_layer() * of_norm;
  const double mlp_values = model.gated_mlp ? (fused ? 3.0 : 4.0) : 2.0;
  const double attention = model.attention_elements();
  const double mlp = mlp_values * model.active_width();
  double routed = 0;
  if (model.experts) {
    routed = model.mlp_share() * (task.execution().fused_experts ? 2.0 : 4.0) * model.experts->active_per_token;
  }
  const bool keeps_scores = !task.execution().fused_attention && recompute == Recompute::none;
  const double scores =
      keeps_scores ? model.attended_tokens(work.memory_tokens) * model.heads * model.full_attention_share()
                   : 0.0;
  return (norms + routed) * hidden + (attention + mlp + scores) / tensor_parallel;
}

double logit_elements(const TaskWork& task, int replica, int stage) {
  if (stage + 1 < stages_of(task, replica)) return 0;
  if (task.model->value_head) return 1;
  return task.model->vocabulary /
         static_cast<double>(task.plan->tensor_parallel(stage_of(task, replica, stage)));
}

// The KV cache in bytes that an engine needs if the plan states no size.
double needed_cache_bytes(const TaskWork& task, int replica, int stage) {
  const ReplicaWork& share = task.replicas[static_cast<std::size_t>(replica)];
  const Stage& layout = stage_of(task, replica, stage);
  const double states = share.decoding_sequences() * layout.layers * task.model->sequence_state_bytes() /
                        task.plan->tensor_parallel(layout);
  return share.cached_tokens * layout.layers * task.model->kv_cache_elements_per_token() * task.cache_bytes /
             cache_split(task, layout) +
         states;
}

// Sequences of which a stage keeps activations at once. With chunks a stage runs 2 (P - 1 - j) + (v - 1) P of
// them ahead of its first backward pass, as Megatron-LM schedules them, and keeps one more.
double sequences_in_flight(const TaskWork& task, int replica, int stage) {
  const ReplicaWork& share = task.replicas[static_cast<std::size_t>(replica)];
  const double stages = stages_of(task, replica), chunks = task.execution().virtual_stages;
  double in_flight = stages - stage;
  if (chunks > 1) in_flight = (2 * (stages - 1 - stage) + (chunks - 1) * stages + 1) / chunks;
  return std::min(in_flight * share.largest_micro_batch_sequences, share.mini_batch_sequences);
}

// Tokens of one sequence on one device.
double tokens_on_device(const TaskWork& task, const ReplicaWork& work) {
  return work.memory_tokens / task.execution().context_parallel;
}

// Elements that a stage keeps for the backward pass, of one token position of all sequences.
double kept_in_training(const TaskWork& task, int replica, int stage) {
  const Stage& layout = stage_of(task, replica, stage);
  const double tp = task.plan->tensor_parallel(layout), in_flight = sequences_in_flight(task, replica, stage);
  const ReplicaWork& work = task.replicas[static_cast<std::size_t>(replica)];
  const double largest = work.largest_micro_batch_sequences;
  const double layer = kept_elements(task, work, tp, task.plan->recompute);
  double kept = in_flight * layout.layers * layer;
  if (task.execution().offload_activations) {  // of a micro-batch one layer's at a time are on the device
    const double away = offloaded_share(task.execution(), layout.layers) * layout.layers;
    kept = in_flight * (layout.layers - away) * layer + largest * layer;
  }
  if (stage == 0) kept += in_flight * kept_elements(task, work, tp, Recompute::full);  // the embedding's output
  return kept;
}

// Elements of the layer at work, of one token position of one micro-batch.
double layer_elements(const TaskWork& task, int replica, int stage) {
  const double tp = task.plan->tensor_parallel(stage_of(task, replica, stage));
  const ReplicaWork& work = task.replicas[static_cast<std::size_t>(replica)];
  const double values = kept_elements(task, work, tp, Recompute::none);
  if (task.kind() != TaskKind::training) return values;
  return 2 * values - kept_elements(task, work, tp, task.plan->recompute);
}

// The bytes that a task holds for one logit.
double bytes_of_logit(const TaskWork& task) {
  const bool is_training = task.kind() == TaskKind::training;
  const double computed = task.element_bytes;
  if (task.execution().fused_loss) return (is_training ? 2.0 : 1.0) * computed;
  const double copied = computed < kFp32Bytes ? kFp32Bytes : 0.0, log_softmax = kFp32Bytes;
  if (!is_training) return computed + copied + log_softmax;
  const double gradients = kFp32Bytes + (computed < kFp32Bytes ? computed : 0.0);
  return computed + copied + log_softmax + gradients;
}

// Tokens whose logits exist at once.
double logit_tokens(const TaskWork& task, double tokens) {
  const int chunk = task.execution().logit_chunk_tokens;
  return chunk > 0 ? std::min<double>(chunk, tokens) : tokens;
}

// Weights and gradients that FSDP holds whole on a device for a while.
void add_gathered(const TaskWork& task, int replica, int stage, StageMemory& memory) {
  if (task.execution().zero_stage < 3) return;
  const Held copies = copies_of(task, replica, stage);
  const bool is_cast = task.weight_bytes > task.moved_weight_bytes();
  if (copies.shared <= 1 && !is_cast) return;
  const Model& model = *task.model;
  const double tp = task.plan->tensor_parallel(stage_of(task, replica, stage));
  const double experts = model.layer_expert_parameters() / expert_width(task.execution(), tp);
  const double shared = (model.layer_parameters() - model.layer_expert_parameters()) / tp;
  const bool is_first = stage == 0, is_last = stage + 1 == stages_of(task, replica);
  const double embedding = is_first ? model.embedding_parameters() / tp : 0.0;
  const double head = is_last ? model.head_parameters() / tp : 0.0;
  const bool trains_all = task.kind() == TaskKind::training && task.execution().lora_rank == 0;
  const double gradient = trains_all ? task.element_bytes + task.gradient_bytes : 0.0;
  const double bytes = task.moved_weight_bytes();
  double layer_bytes = (2 * bytes + gradient) * shared;
  if (copies.experts > 1 || is_cast) layer_bytes += (2 * task.moved_expert_weight_bytes() + gradient) * experts;
  memory.gathered_head_bytes = bytes * head;
  memory.gathered_layer_bytes = std::max(layer_bytes, (bytes + gradient) * std::max(embedding, head));
}

void add_working_set(const TaskWork& task, int replica, int stage, StageMemory& memory) {
  const ReplicaWork& share = task.replicas[static_cast<std::size_t>(replica)];
  const double logits = bytes_of_logit(task) * logit_elements(task, replica, stage);
  if (task.kind() == TaskKind::generation) {
    memory.reserved_bytes = task.execution().kv_cache_bytes;
    if (memory.reserved_bytes == 0) memory.activation_bytes = needed_cache_bytes(task, replica, stage);
    memory.logit_bytes = logit_tokens(task, share.decode_together) * logits;
    return;
  }
  const double bytes = task.element_bytes, tokens = tokens_on_device(task, share),
               largest = share.largest_micro_batch_sequences;
  memory.logit_bytes = logit_tokens(task, tokens * largest) * logits;
  memory.layer_bytes = bytes * tokens * largest * layer_elements(task, replica, stage);
  if (task.kind() == TaskKind::training) {
    memory.activation_bytes = bytes * tokens * kept_in_training(task, replica, stage);
  }
  add_gathered(task, replica, stage, memory);
}

// Devices of the tasks whose weights go to the host.
std::set<DeviceId> devices_in_turns(std::span<const TaskWork> works) {
  std::set<DeviceId> devices;
  for (const TaskWork& task : works) {
    if (task.execution().offload_weights) devices.insert(task.devices.begin(), task.devices.end());
  }
  return devices;
}

}  // namespace

double offloaded_share(const Execution& execution, double layers) {
  const int offloaded = execution.offload_activation_layers;
  return offloaded > 0 ? std::min(1.0, offloaded / layers) : 1.0;
}

double held_parameters(const TaskWork& task, int replica, int stage) {
  const Held held = held_by_part(task, replica, stage);
  return held.shared + held.experts;
}

StageMemory stage_memory(const TaskWork& task, int replica, int stage) {
  const States states = states_of(task, replica, stage);
  const Execution& execution = task.execution();
  StageMemory memory;
  if (execution.offload_optimizer) memory.host_bytes = states.handed_over;
  if (execution.offload_weights) {
    memory.host_bytes += states.copied(execution) + states.optimizer;
    memory.loaded_bytes = execution.offload_optimizer ? states.weights + states.gradients : states.total();
    memory.moved_bytes = states.copied(execution) + (execution.offload_optimizer ? 0 : states.optimizer);
  } else if (execution.offload_optimizer) {
    memory.host_bytes += states.optimizer;
    memory.state_bytes = states.weights + states.gradients;
  } else {
    memory.state_bytes = states.total();
  }
  add_working_set(task, replica, stage, memory);
  return memory;
}

double offloaded_bytes(const TaskWork& task, int replica, int stage) {
  return stage_memory(task, replica, stage).moved_bytes;
}

double micro_batch_activation_bytes(const TaskWork& task, int replica, int stage) {
  const Stage& layout = stage_of(task, replica, stage);
  const ReplicaWork& work = task.replicas[static_cast<std::size_t>(replica)];
  return task.element_bytes * work.micro_batch_sequences * tokens_on_device(task, work) * layout.layers *
         kept_elements(task, work, task.plan->tensor_parallel(layout), task.plan->recompute);
}

std::map<DeviceId, std::vector<MemoryNeed>> memory_needs(std::span<const TaskWork> works,
                                                         const CoefficientValues<double>& values,
                                                         const Hardware<double>& hardware) {
  const auto type_index = [&](DeviceId device) { return hardware.type_index(device); };
  struct Resident {
    double bytes = 0, reserved_bytes = 0;
  };
  std::map<DeviceId, Resident> resident;
  std::map<DeviceId, std::vector<MemoryNeed>> needs;
  for (const TaskWork& task : works) {
    const bool has_no_states = finds_weights(task, works);
    for (TaskMemory<double>& part : task_memory(task, values, type_index, true)) {
      if (has_no_states) part.leave_out_states();
      const auto [found, is_new] = resident.try_emplace(part.device);
      if (is_new) found->second.bytes = values.at(CoefficientId::memory_context_bytes, type_index(part.device));
      found->second.bytes += part.resident_bytes;
      found->second.reserved_bytes += part.resident_reserved_bytes;
      needs[part.device].push_back(
          {part.working_reserved_bytes, part.working_bytes - part.working_reserved_bytes});
    }
  }
  for (auto& [device, of_tasks] : needs) {
    const Resident& always = resident.at(device);
    for (MemoryNeed& need : of_tasks) {
      need.reserved_bytes += always.reserved_bytes;
      need.predicted_bytes += always.bytes - always.reserved_bytes;
    }
  }
  return needs;
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

bool uses_copy_of(const TaskWork& pass, const TaskWork& training) {
  const Execution &own = pass.execution(), &other = training.execution();
  const auto degrees = [](const Execution& execution) {
    return std::tuple(execution.context_parallel, execution.expert_parallel, execution.expert_tensor_parallel,
                      execution.zero_stage == 3, execution.sharded_over);
  };
  const std::vector<Replica>&replicas = pass.plan->replicas, &others = training.plan->replicas;
  return pass.kind() == TaskKind::inference && training.kind() == TaskKind::training &&
         pass.task->model == training.task->model &&
         // Frozen weights are the reference's too.
         (pass.task->name != task_names::kReferenceInference || other.lora_rank > 0) &&
         degrees(own) == degrees(other) &&
         std::equal(replicas.begin(), replicas.end(), others.begin(), others.end(),
                    [](const Replica& a, const Replica& b) { return a.stages == b.stages; });
}

bool finds_weights(const TaskWork& task, std::span<const TaskWork> works) {
  return std::any_of(works.begin(), works.end(), [&](const TaskWork& other) {
    return uses_copy_of(task, other) && !other.execution().offload_weights;
  });
}

std::vector<HostMemory> host_memory(std::span<const TaskWork> works, const Cluster& cluster) {
  const std::set<DeviceId> in_turns = devices_in_turns(works);
  std::map<NodeId, double> by_node;
  for (const TaskWork& task : works) {
    const bool has_no_copy = std::any_of(works.begin(), works.end(),
                                         [&](const TaskWork& other) { return uses_copy_of(task, other); });
    if (has_no_copy) continue;
    for (std::size_t i = 0; i < task.replicas.size(); ++i) {
      const std::vector<Stage>& stages = task.plan->replicas[i].stages;
      for (std::size_t j = 0; j < stages.size(); ++j) {
        const StageMemory memory = stage_memory(task, static_cast<int>(i), static_cast<int>(j));
        for (const DeviceId device : stages[j].devices) {
          double bytes = memory.host_bytes;
          const bool sleeps = task.kind() == TaskKind::generation && in_turns.contains(device);
          if (sleeps && !task.execution().offload_weights) bytes += memory.state_bytes;
          if (bytes > 0) by_node[cluster.node_of(device)] += kPinnedShare * bytes;
        }
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

}  // namespace sextant::inline costmodel
