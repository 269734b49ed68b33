// Low-rank adapters on the host (Hu et al. 2021): not in the appendix, neutral at zero.
//
// Two more small products, with their scaling and sum, run next to each projection of an adapted layer, and if
// weights are sharded each adapter is gathered by itself. Their arithmetic is negligible, their launches are
// not: lora_overhead_weight, relative to the host's work for the layer.
#pragma once

#include "costmodel/problem/problem.h"

namespace sextant::terms {

// Returns the layers of a stage, weighted by the host's work for them.
template <typename T>
[[nodiscard]] T prepared_layers(const StageOfTask<T>& s) {
  if (s.execution().lora_rank == 0) return T(s.layers());
  return s.layers() * (1.0 + s.problem.coefficient(CoefficientId::lora_overhead_weight));
}

}  // namespace sextant::terms
