// The data that passes through a stage, and how often: sequences, their tokens, entries (micro-batches, chunks
// of prompts), and passes counted in forward passes.
//
// The appendix's p = 1 for a forward pass, 3 for forward and backward (HetRL B.2 "Computation"). Ours, neutral
// by default: recomputation repeats arithmetic (recompute_flop_weight), adapters need no gradients of frozen
// weights.
#pragma once

#include "costmodel/problem/problem.h"

namespace sextant::terms {

// Sequences whose tokens this task passes through the layers at once.
template <typename T>
[[nodiscard]] double layer_sequences(const StageOfTask<T>& s) {
  return s.is_generation() ? s.work().prefill_sequences : s.work().sequences;
}

// Tokens of one sequence that pass through the layers.
template <typename T>
[[nodiscard]] double tokens_at_once(const StageOfTask<T>& s) {
  return s.is_generation() ? s.task.prompt_tokens : s.work().sequence_tokens;
}

// Tokens that pass through the layers of one device in one forward pass.
template <typename T>
[[nodiscard]] double layer_tokens(const StageOfTask<T>& s) {
  return layer_sequences(s) * tokens_at_once(s) / s.context_parallel();
}

// Returns the sequence length for attention.
template <typename T>
[[nodiscard]] double attention_tokens(const StageOfTask<T>& s) {
  return s.is_generation() ? s.task.prompt_attention_tokens : s.work().attention_tokens;
}

// Number of entries into a stage: micro-batches, or chunks of prompts.
template <typename T>
[[nodiscard]] double stage_passes(const StageOfTask<T>& s) {
  return s.is_generation() ? s.work().prefill_passes : s.work().micro_batches;
}

// p: passes over the layers' projections, counted in forward passes. Frozen weights (LoRA) have no gradients.
template <typename T>
[[nodiscard]] T passes(const StageOfTask<T>& s) {
  if (!s.is_training()) return T(1.0);
  const double forward_backward = s.execution().lora_rank > 0 ? 2.0 : 3.0;
  if (s.task.plan->recompute != Recompute::full) return T(forward_backward);
  return forward_backward + s.problem.coefficient(CoefficientId::recompute_flop_weight);
}

// Like passes, for attention, which selective recomputation repeats too, and which has no weights to freeze.
template <typename T>
[[nodiscard]] T attention_passes(const StageOfTask<T>& s) {
  if (!s.is_training()) return T(1.0);
  if (s.task.plan->recompute == Recompute::none) return T(3.0);
  return 3.0 + s.problem.coefficient(CoefficientId::recompute_flop_weight);
}

// Passes over the vocabulary head, which is never recomputed.
template <typename T>
[[nodiscard]] double head_passes(const StageOfTask<T>& s) {
  return s.is_training() ? 3.0 : 1.0;
}

}  // namespace sextant::terms
