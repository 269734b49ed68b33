// The number of kernels per layer, by which its fixed time is scaled.
//
// A dense layer in 16 bits has 11: two norms, the query-key-value product, rotation, cache write, attention and
// the merge of its parts, output product, up and gate product, activation, down product. Routed experts add 12
// in place of or in addition to the MLP's (router, top-k, counting, sorting, gathering, two grouped products,
// activation, weighting, summing), latent attention 6 (two low-rank pairs with their norms, two absorbed
// products), operands of 8 or 4 bits 2 casts that are not fused into a norm. A layer of linear attention has eight in
// place of the six of attention (product of queries, keys, values and gate, product of the decay's two numbers,
// convolution, decay, step sizes, update of the state, norm with gate, output product), and attention with a gate two
// more (sigmoid, product). Engines that run a model unfused
// launch every cast, and each expert on its own: most experts get no token and cost only a look-up.
#pragma once

#include "costmodel/problem/work.h"
#include "documents/semantics.h"

namespace sextant::terms {

inline constexpr double kDenseLayerKernels = 11, kExpertLayerKernels = 12;

// Kernels of a layer without experts: half as many if it is attention or an MLP alone.
[[nodiscard]] inline double plain_kernels(const Model& model) {
  return kDenseLayerKernels * model.parts_per_layer() / 2;
}

// Kernels of a layer in one pass of training or inference, relative to a dense one; mean over the model's
// layers. Kernels that CUDA graphs replay are not launched: routing, then attention, which is half of a dense
// layer. If experts are launched apart, each expert that a device holds has its two products (up and gate as
// one), in a loop three, with their activation and the copies of its tokens in and out.
[[nodiscard]] inline double training_kernels(const TaskWork& task) {
  constexpr double kProducts = 2, kLooped = 6;
  const Execution& execution = task.execution();
  const TrainingGraphs graphs =
      task.kind() == TaskKind::training ? execution.training_graphs : TrainingGraphs::none;
  if (graphs == TrainingGraphs::iteration) return 0;
  const double plain = plain_kernels(*task.model);
  double count = graphs == TrainingGraphs::attention ? 0.5 * plain : plain;
  if (task.model->experts) {
    const double held = static_cast<double>(task.model->experts->count) / execution.expert_parallel;
    double of_experts = graphs == TrainingGraphs::none ? kExpertLayerKernels : kProducts;
    if (execution.unfused) {
      of_experts += held * kLooped;
    } else if (semantics_of(execution.semantics).launches_experts_apart && !execution.fused_experts) {
      of_experts += (held - 1.0) * kProducts;
    }
    count += task.model->expert_share() * of_experts;
  }
  return count / kDenseLayerKernels;
}

// Kernels of a layer in prefill or decoding, relative to a dense one in 16 bits; mean over the model's layers.
[[nodiscard]] inline double layer_kernels(const TaskWork& task) {
  constexpr double kLatent = 6, kLinear = 2, kGate = 2, kCasts = 2, kUnfusedCasts = 13, kLoopedExpert = 1.5;
  const bool casts = task.weight_bytes < 2 || task.expert_weight_bytes < 2;
  const bool unfused = task.execution().unfused;
  double count = plain_kernels(*task.model);
  if (casts) count += (unfused ? kUnfusedCasts : kCasts) * task.model->parts_per_layer() / 2;
  if (task.model->latent_attention) count += kLatent;
  count += kLinear * task.model->linear_attention_share();
  if (task.model->attention_gate) count += kGate * task.model->full_attention_share();
  if (const auto& experts = task.model->experts) {
    const double looped = unfused ? kLoopedExpert * experts->count * (casts ? 2.0 : 1.0) : 0.0;
    count += task.model->expert_share() * (kExpertLayerKernels + looped);
  }
  return count / kDenseLayerKernels;
}

}  // namespace sextant::terms
