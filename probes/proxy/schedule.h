// The order of a stage's forward and backward passes in training: one forward, one backward (1F1B,
// PipeDream-Flush, Megatron-LM), which holds at most stages - stage micro-batches' activations.
#pragma once

#include <vector>

namespace sextant::proxy {

enum class Pass { forward, backward };

struct PipelineStep {
  Pass pass = Pass::forward;
  int micro_batch = 0;
  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};

[[nodiscard]] std::vector<PipelineStep> one_forward_one_backward(int stage, int stages, int micro_batches);

// Returns the number of micro-batches whose activations the stage holds at once.
[[nodiscard]] int micro_batches_in_flight(int stage, int stages, int micro_batches);

}  // namespace sextant::proxy
