// Bytes of one tasklet, M_model(l) and M_working(l) of HetRL, section 3.1, before coefficients. The formulas
// are those that costmodel/terms/memory.h states, implemented separately.
//
// Model states: Rajbhandari et al. 2020 (ZeRO), section 3.1 and 5. Activations: Korthikanti et al. 2022,
// section 4, in elements and without dropout; a layer keeps per token
//   4 h             inputs of both norms, of the attention and of the MLP
//   2 a d + 2 k d   queries and the attention's output, keys and values (a heads, k key-value heads of d)
//   3 w             both products of a gated MLP of width w and the input of the last one (2 w without gate);
//                   for experts w is the sum over the token's routed experts and the shared ones
//   a s             scores over s tokens, unless attention is fused or recomputed
//   4 k h           if a token is routed to k experts: its hidden state sent to each of them, returned by
//                   each, and weighted in fp32 (2 k h if the kernels of experts are fused)
// Hidden-sized ones are split by sequence parallelism only, the others by tensor parallelism. The pass of a
// layer needs its values, in training also their gradients.
//
// Loss: PyTorch's cross entropy in fp32 holds the logits, their copy and their log-softmax while it computes
// the gradient, which it then casts back. FSDP (Zhao et al. 2023, section 3): the active unit is whole on a
// device and the next one is fetched; a unit's gradient is whole until it is reduced. Embedding and head are
// units.
//
// Engines with a KV cache of stated size allocate all of it at start (vLLM, gpu_memory_utilization), and give
// it back only by sleeping.
#pragma once

#include <cstddef>

#include "planner/verify/planned_task.h"

namespace sextant::inline planner {

struct TaskletMemory {
  double resident_bytes = 0;       // states that are always on the device
  double loaded_bytes = 0;         // states on the device while the task runs
  double host_bytes = 0;           // states on the host
  double lasting_cache_bytes = 0;  // KV cache of stated size, if the engine does not sleep
  double woken_cache_bytes = 0;    // the same of an engine that sleeps: on the device while it generates
  double activation_bytes = 0;     // kept, with a KV cache whose size the plan does not state
  double logit_bytes = 0;
  double whole_head_bytes = 0;  // of sharded weights, during the loss
  double layer_bytes = 0;       // of the active layer
  double whole_unit_bytes = 0;  // of sharded weights and gradients, for the active unit
};

// Bytes on each device of a stage; all hold the same. `sequences`: of the replica (batch.h).
[[nodiscard]] TaskletMemory tasklet_memory(const PlannedTask& task, std::size_t replica, std::size_t stage,
                                           int sequences);

}  // namespace sextant::inline planner
