// Memory of a plan (HetRL constraint C3): on every device the largest working set of one task plus the model
// states of all tasks on it must fit; on every host the states that are offloaded to it. A KV cache of stated
// size counts as states do: engines allocate it whole when they start.
//
// Model states, bytes a parameter. A task holds its weights as they are stored. Training adds the gradients
// that accumulate (main_gradient_precision, by default as the weights) and Adam's state: two moments
// (moment_precision, by default fp32), and a master copy in fp32 of weights that are stored in less
// (master_weights). By default this is the usual 16 bytes of mixed precision (2 + 2 + 8 + 4) and 16 of plain
// fp32 (4 + 4 + 8); Megatron's gradients in fp32 make it 18, Adam in bf16 without a master copy is 8
// (2 + 2 + 4). ZeRO divides the optimizer's state (stage 1), gradients too (2) and weights too (3) by the
// devices that hold the same weights (Rajbhandari et al. 2020, section 5): replicas times context-parallel
// parts. Routed experts that are distributed over several of these devices have fewer copies. LoRA trains its
// adapters only, which are sharded in the same way. A pass that computes with the weights of a training task on
// the same devices (uses_copy_of: verl's old_log_prob runs on the actor's engine) has none of its own while that
// task keeps them there.
//
// Kept activations. Inference keeps none. Training keeps those of the micro-batches in flight: one micro-batch
// for the stage and each that follows, and with v virtual stages those that Megatron-LM's schedule has run
// before the first backward pass: (2 (P - 1 - j) + (v - 1) P + 1) / v on stage j, which is
// P (1 + (P - 1) / (P v)) on the first (Korthikanti et al. 2022, section 4.2.3). Micro-batches are as large as
// the largest, and no more sequences are in flight than a mini-batch has. The elements of a layer follow
// Korthikanti et al., section 4: hidden-sized tensors are whole (split with sequence parallelism), the others
// are divided by TP, and scores count only where attention is not fused. A layer of experts also holds copies
// of a token's hidden state for each of its k experts: dispatched, returned, and weighted in fp32, which is 4 k
// hidden states in 16 bits; 2 k where the experts' kernels are fused. Full recomputation keeps the layer's
// input only. Activations that are offloaded leave one layer's of one micro-batch on the device.
//
// KV cache. Without kv_cache_bytes it is that of the sequences that decode together at full length, and it is
// gone when generation ends. Engines that reserve memory (vLLM's gpu_memory_utilization, SGLang's
// mem_fraction_static) allocate all of kv_cache_bytes, however much of it is used. The memory of an engine that
// sleeps while other tasks run (offload_weights) is only there during generation; that of any other engine is
// taken from its devices during all tasks. It is a stated number of bytes, so that no coefficient applies.
//
// The rest of a working set is the larger of two, because the loss is over before the backward pass begins:
//   loss   logits of one micro-batch, or of logit_chunk_tokens. A loss holds e bytes as computed, their copy in
//          fp32 (where e < 4), the log-softmax in fp32, its gradient in fp32 and the gradient as computed
//          (where e < 4): 16 bytes a logit in 16 bits, 12 in fp32. Log-probabilities and sampling hold the
//          first three: 10 and 8 bytes. A fused loss holds the logits and their gradient as computed.
//   layer  the values and gradients of one layer (of inference the values), less what is kept of it.
// Sharded weights (FSDP) add the gathered weights: for the loss the head; for a layer its weights, those of the
// next one that is fetched ahead, its whole gradient, and that gradient in the format in which replicas reduce
// it. The head and the embedding are gathered without another one.
//
// Host memory: offloaded weights and optimizer states; for an optimizer on the host its state, gradients in fp32,
// and the new weights on their way back. Gradients are dropped, because the next step makes new ones: verl's,
// NeMo RL's, SkyRL's and ROLL's Megatron trainers free the buffers and fill them with zeros later, FSDP trainers
// set them to none, and slime keeps no copy of them from 0.3.1 on. A plan can say that they are copied
// (offload_gradients). A pass that runs on the engine of a training task has no copy of its own here either. An
// engine that alternates with a task whose weights go to the host keeps its own weights there too. All are pinned, in blocks that are rounded up (kPinnedShare).
//
// Four coefficients correct it to the memory that a framework really takes: memory_state_weight,
// memory_activation_weight, memory_logit_weight and memory_context_bytes; neutral values change nothing.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "costmodel/problem/coefficient_values.h"
#include "costmodel/problem/work.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant::inline costmodel {

// Counts for one stage of a task, before coefficients; bytes per device.
struct StageMemory {
  double state_bytes = 0;           // on the device while the task does not run
  double loaded_bytes = 0;          // states that are there for the task and leave after it
  double moved_bytes = 0;           // the part of them that comes from the host and goes back
  double host_bytes = 0;            // on the host
  double activation_bytes = 0;      // kept, for all micro-batches in flight; a KV cache without a stated size
  double reserved_bytes = 0;        // KV cache of stated size; leaves the device only if the engine sleeps
  double logit_bytes = 0;           // held by the loss
  double layer_bytes = 0;           // values and gradients of the current layer, less the part that is kept
  double gathered_head_bytes = 0;   // sharded weights of the head, during the loss
  double gathered_layer_bytes = 0;  // sharded weights and their gradients, during the pass of a layer
};

// Size of pinned memory relative to the requested size. slime on Qwen3-30B-A3B (THUDM/slime#1851) holds 102 to
// 103 GB per process, some 4 GB of them code and libraries, while 91.5 GB are counted.
inline constexpr double kPinnedShare = 1.1;

[[nodiscard]] StageMemory stage_memory(const TaskWork& task, int replica, int stage);

// States of a stage on one device that offloading moves, in bytes, one way.
[[nodiscard]] double offloaded_bytes(const TaskWork& task, int replica, int stage);
// Kept activations of one micro-batch in one stage, in bytes per device.
[[nodiscard]] double micro_batch_activation_bytes(const TaskWork& task, int replica, int stage);

// Share of the activations that a plan with activation offloading sends to the host, for a stage's `layers`.
[[nodiscard]] double offloaded_share(const Execution& execution, double layers);

// Weights that one device of a stage holds: experts are distributed over their own groups.
[[nodiscard]] double held_parameters(const TaskWork& task, int replica, int stage);

// Memory of one device in one task, with coefficients.
template <typename T>
struct TaskMemory {
  DeviceId device;
  T resident_bytes = T(0.0);
  T working_bytes = T(0.0);
  // The parts of both that are a KV cache of stated size.
  double resident_reserved_bytes = 0;
  double working_reserved_bytes = 0;
  // The parts of both that are model states.
  T resident_state_bytes = T(0.0);
  T loaded_state_bytes = T(0.0);

  // Counts no states: another task has them on the device.
  void leave_out_states() {
    resident_bytes -= resident_state_bytes;
    working_bytes -= loaded_state_bytes;
    resident_state_bytes = loaded_state_bytes = T(0.0);
  }
  // Counts only this share of the KV cache.
  void scale_reserved(double share) {
    resident_bytes -= (1 - share) * resident_reserved_bytes;
    working_bytes -= (1 - share) * working_reserved_bytes;
    resident_reserved_bytes *= share;
    working_reserved_bytes *= share;
  }
};

// Memory of one device of each stage, with `all` of every device: replicas of one class are equal.
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
        TaskMemory<T> entry{device};
        const T& states = values.at(memory_state_weight, type);
        entry.resident_bytes = entry.resident_state_bytes = states * of_stage.state_bytes;
        entry.loaded_state_bytes = states * of_stage.loaded_bytes;
        const bool sleeps = task.execution().offload_weights;
        (sleeps ? entry.working_reserved_bytes : entry.resident_reserved_bytes) = of_stage.reserved_bytes;
        (sleeps ? entry.working_bytes : entry.resident_bytes) += of_stage.reserved_bytes;
        const T& activations = values.at(memory_activation_weight, type);
        const T loss =
            values.at(memory_logit_weight, type) * of_stage.logit_bytes + states * of_stage.gathered_head_bytes;
        const T layer = activations * of_stage.layer_bytes + states * of_stage.gathered_layer_bytes;
        entry.working_bytes +=
            entry.loaded_state_bytes + activations * of_stage.activation_bytes + (loss < layer ? layer : loss);
        memory.push_back(entry);
      }
    }
  }
  return memory;
}

// Whether a pass without gradients computes with the copy of the weights that `training` has: its model is trained
// there, by the same devices in the same layout. The reference is an earlier state, also if it has the actor's name.
[[nodiscard]] bool uses_copy_of(const TaskWork& pass, const TaskWork& training);

// Whether one of the tasks keeps the weights that `task` computes with on the same devices.
[[nodiscard]] bool finds_weights(const TaskWork& task, std::span<const TaskWork> works);

// Combines the memory of all tasks on one device; `peaks` by device.
template <typename T, typename TypeOf>
[[nodiscard]] std::map<DeviceId, TaskMemory<T>> device_memory(std::span<const TaskWork> works,
                                                              const CoefficientValues<T>& values,
                                                              TypeOf type_index_of, bool all) {
  std::map<DeviceId, TaskMemory<T>> by_device;
  for (const TaskWork& task : works) {
    const bool has_no_states = finds_weights(task, works);
    for (TaskMemory<T>& part : task_memory(task, values, type_index_of, all)) {
      if (has_no_states) part.leave_out_states();
      const auto [found, is_new] = by_device.emplace(part.device, TaskMemory<T>{part.device});
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

// Memory of a device while one of its tasks runs: caches of stated size, and what the model predicts.
struct MemoryNeed {
  double reserved_bytes = 0;
  double predicted_bytes = 0;
};

// Returns the needs of every device that the plan uses, one for each task on it.
[[nodiscard]] std::map<DeviceId, std::vector<MemoryNeed>> memory_needs(std::span<const TaskWork> works,
                                                                       const CoefficientValues<double>& values,
                                                                       const Hardware<double>& hardware);

// Returns the memory of every device that the plan uses, ascending.
[[nodiscard]] std::vector<DeviceMemory> plan_memory(std::span<const TaskWork> works, const Cluster& cluster,
                                                    const CoefficientValues<double>& values,
                                                    const Hardware<double>& hardware);
// Same as above with neutral coefficients.
[[nodiscard]] std::vector<DeviceMemory> plan_memory(const Workflow& workflow, const Plan& plan,
                                                    const Cluster& cluster);

// Returns the nodes whose host memory the plan uses, ascending.
[[nodiscard]] std::vector<HostMemory> host_memory(std::span<const TaskWork> works, const Cluster& cluster);

}  // namespace sextant::inline costmodel
