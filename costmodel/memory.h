// Memory of a plan (HetRL constraint C3): on every device the largest working set of one task plus the model
// states of all tasks that live there must fit; on every host the states that are offloaded to it.
//
// Model states, bytes a parameter: the weights as stored; for training also gradients in the same precision
// and Adam's state in fp32 (two moments, and a master copy when weights are not fp32). This is the usual 16
// bytes of mixed precision (2 + 2 + 12) and 16 of plain fp32 (4 + 4 + 8). ZeRO divides the optimizer's state
// (stage 1), gradients too (2) and weights too (3) by the devices that hold the same weights (Rajbhandari et
// al. 2020, section 5): replicas times context-parallel parts; of routed experts that are dealt over several of
// these as many fewer. LoRA trains its adapters only, which are sharded in the same way. Working sets:
// activations of the micro-batches in flight, the KV cache of the sequences that decode together at full
// length, and the logits of one micro-batch. In flight is one micro-batch for inference, through one layer at
// a time; in training one for the stage and each that follows, with v virtual stages what Megatron-LM's
// schedule has run before the first backward pass: (2 (P - 1 - j) + (v - 1) P + 1) / v on stage j, which is P
// (1 + (P - 1) / (P v)) on the first (Korthikanti et al. 2022, section 4.2.3). Micro-batches are as large as
// the largest, and no more sequences in flight than a mini-batch has. Activation elements of a layer follow
// Korthikanti et al., section 4, counted in elements: hidden-sized tensors are kept whole (split with sequence
// parallelism), the others divided by TP, of experts those that a token is routed to; scores only where
// attention is not fused; with full recomputation only the layer's input is kept. Of activations that are
// offloaded those of one layer and micro-batch are on the device; what they take of the host is not counted.
//
// Four coefficients make it the memory that a framework really takes: memory_state_weight,
// memory_activation_weight, memory_logit_weight and memory_context_bytes; neutral they change nothing.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "costmodel/coefficient_values.h"
#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/prediction.h"
#include "costmodel/vocabulary/workflow.h"
#include "costmodel/work.h"

namespace sextant {

// Counts of one stage of a task, before coefficients; bytes of one device.
struct StageMemory {
  double state_bytes = 0;       // on the device while the task does not run
  double loaded_bytes = 0;      // states that come in for the task and leave after it
  double host_bytes = 0;        // states that live on the host
  double activation_bytes = 0;  // all micro-batches in flight, KV cache included
  double logit_bytes = 0;
};

[[nodiscard]] StageMemory stage_memory(const TaskWork& task, int replica, int stage);

// States of a stage, wherever they are, of one device: what offloading moves.
[[nodiscard]] double offloaded_bytes(const TaskWork& task, int replica, int stage);
// Kept activations of one micro-batch in one stage, of one device.
[[nodiscard]] double micro_batch_activation_bytes(const TaskWork& task, int replica, int stage);

// Share of the activations of a stage with so many layers that a plan which offloads them sends to the host.
[[nodiscard]] double offloaded_share(const Execution& execution, double layers);

// Weights that one device of a stage holds: experts are dealt over their own groups.
[[nodiscard]] double held_parameters(const TaskWork& task, int replica, int stage);

// Of one device in one task, with coefficients.
template <typename T>
struct TaskMemory {
  DeviceId device;
  T resident_bytes = T(0.0);
  T working_bytes = T(0.0);
};

// Of one device of each stage, with `all` of every device: replicas of one class are alike.
template <typename T, typename TypeOf>
[[nodiscard]] std::vector<TaskMemory<T>> task_memory(const TaskWork& task, const CoefficientValues<T>& values,
                                                     TypeOf type_index_of, bool all) {
  using enum CoefficientId;
  std::vector<TaskMemory<T>> memory;
  std::vector<int> replicas;
  if (all) {
    for (std::size_t i = 0; i < task.replicas.size(); ++i) replicas.push_back(static_cast<int>(i));
  } else {
    for (const ReplicaClass& of_class : task.classes) replicas.push_back(of_class.replica);
  }
  for (const int i : replicas) {
    const std::vector<Stage>& stages = task.plan->replicas[static_cast<std::size_t>(i)].stages;
    for (std::size_t j = 0; j < stages.size(); ++j) {
      const StageMemory of_stage = stage_memory(task, i, static_cast<int>(j));
      for (const DeviceId device : stages[j].devices) {
        const int type = type_index_of(device);
        TaskMemory<T> entry{device, T(0.0), T(0.0)};
        entry.resident_bytes = values.at(memory_state_weight, type) * of_stage.state_bytes;
        entry.working_bytes = values.at(memory_state_weight, type) * of_stage.loaded_bytes +
                              values.at(memory_activation_weight, type) * of_stage.activation_bytes +
                              values.at(memory_logit_weight, type) * of_stage.logit_bytes;
        memory.push_back(entry);
      }
    }
  }
  return memory;
}

// Peak of one device over all tasks; `peaks` by device.
template <typename T, typename TypeOf>
[[nodiscard]] std::map<DeviceId, TaskMemory<T>> device_memory(std::span<const TaskWork> works,
                                                              const CoefficientValues<T>& values,
                                                              TypeOf type_index_of, bool all) {
  std::map<DeviceId, TaskMemory<T>> by_device;
  for (const TaskWork& task : works) {
    for (const TaskMemory<T>& part : task_memory(task, values, type_index_of, all)) {
      const auto [found, is_new] = by_device.emplace(part.device, TaskMemory<T>{part.device, T(0.0), T(0.0)});
      TaskMemory<T>& memory = found->second;
      if (is_new) {
        memory.resident_bytes = values.at(CoefficientId::memory_context_bytes, type_index_of(part.device));
      }
      memory.resident_bytes += part.resident_bytes;
      if (memory.working_bytes < part.working_bytes) memory.working_bytes = part.working_bytes;
    }
  }
  return by_device;
}

// Every device of the cluster that the plan uses, ascending.
[[nodiscard]] std::vector<DeviceMemory> plan_memory(std::span<const TaskWork> works, const Cluster& cluster,
                                                    const CoefficientValues<double>& values,
                                                    const Hardware<double>& hardware);
// The same with neutral coefficients.
[[nodiscard]] std::vector<DeviceMemory> plan_memory(const Workflow& workflow, const Plan& plan,
                                                    const Cluster& cluster);

// Nodes whose host memory the plan uses, ascending.
[[nodiscard]] std::vector<HostMemory> host_memory(std::span<const TaskWork> works, const Cluster& cluster);

}  // namespace sextant
