// Bytes of one tasklet, M_model(l) and M_working(l) of HetRL, section 3.1, before coefficients. The formulas
// are those that costmodel/terms/memory.h states, worked out again.
//
// Model states: Rajbhandari et al. 2020 (ZeRO), section 3.1 and 5. Activations: Korthikanti et al. 2022,
// section 4, in elements and without dropout; a layer keeps for a token
//   4 h             inputs of both norms, of the attention and of the MLP
//   2 a d + 2 k d   queries and the attention's output, keys and values (a heads, k key-value heads of d)
//   3 w             both products of a gated MLP of width w and what goes into the last (2 w without gate); of
//                   experts those that a token is routed to, and the shared ones, side by side
//   a s             scores over s tokens, unless attention is fused or computed again
//   4 k h           where a token is routed to k experts: its hidden state sent to each of them, returned by
//                   each, and weighted in fp32 (2 k h where the kernels of experts are fused)
// of which hidden-sized ones are split with sequence parallelism only, the others by tensor parallelism. The
// pass of a layer needs its values, in training also their gradients.
//
// Loss: PyTorch's cross entropy in fp32 holds the logits, their copy and their log-softmax when it computes the
// gradient, which it then casts back. FSDP (Zhao et al. 2023, section 3): the unit that runs is whole on a
// device and the next one is fetched; a unit's gradient is whole until it is reduced. Embedding and head are
// units.
#pragma once

#include <cstddef>

#include "planner/verify/planned_task.h"

namespace sextant {

struct TaskletMemory {
  double resident_bytes = 0;    // states on the device all the time
  double loaded_bytes = 0;      // states on the device while the task runs
  double host_bytes = 0;        // states on the host
  double activation_bytes = 0;  // kept, with the KV cache
  double logit_bytes = 0;
  double whole_head_bytes = 0;  // of sharded weights, while the loss is computed
  double layer_bytes = 0;       // of the layer that runs
  double whole_unit_bytes = 0;  // of sharded weights and gradients, while a unit runs
};

// Every device of a stage holds the same. `sequences`: of the replica (batch.h).
[[nodiscard]] TaskletMemory tasklet_memory(const PlannedTask& task, std::size_t replica, std::size_t stage,
                                           int sequences);

}  // namespace sextant
