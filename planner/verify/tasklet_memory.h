// Bytes of one tasklet, M_model(l) and M_working(l) of HetRL, section 3.1, before coefficients. The formulas
// are those that costmodel/memory.h states, worked out again.
//
// Model states: Rajbhandari et al. 2020 (ZeRO), section 3.1 and 5. Activations: Korthikanti et al. 2022,
// section 4, in elements and without dropout; a layer keeps for a token
//   4 h             inputs of both norms, of the attention and of the MLP
//   2 a d + 2 k d   queries and the attention's output, keys and values (a heads, k key-value heads of d)
//   3 w             both products of a gated MLP of width w and what goes into the last (2 w without gate); of
//                   experts those that a token is routed to, and the shared ones, side by side
//   a s             scores over s tokens, unless attention is fused or computed again
// of which hidden-sized ones are split with sequence parallelism only, the others by tensor parallelism.
#pragma once

#include <cstddef>

#include "planner/verify/planned_task.h"

namespace sextant {

struct TaskletMemory {
  double resident_bytes = 0;    // states on the device all the time
  double loaded_bytes = 0;      // states on the device while the task runs
  double host_bytes = 0;        // states on the host
  double activation_bytes = 0;  // with the KV cache
  double logit_bytes = 0;
};

// Every device of a stage holds the same. `sequences`: of the replica (batch.h).
[[nodiscard]] TaskletMemory tasklet_memory(const PlannedTask& task, std::size_t replica, std::size_t stage,
                                           int sequences);

}  // namespace sextant
