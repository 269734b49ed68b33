#include "costmodel/terms/weight_sync.h"

#include <algorithm>
#include <iterator>

namespace sextant::terms {

bool is_colocated(const TaskWork& generation, const TaskWork& training) {
  return std::includes(training.devices.begin(), training.devices.end(), generation.devices.begin(),
                       generation.devices.end());
}

double weight_tensors(const Model& model) {
  // Linear attention has five matrices, the convolution, two vectors of its decay, and a norm.
  constexpr double kLinear = 9;
  const double attention = (model.latent_attention ? 7 : 4) * model.full_attention_share() +
                           kLinear * model.linear_attention_share();
  const double norms = model.parts_per_layer(), matrices = model.gated_mlp ? 3 : 2;
  double mlp = model.mlp_share() * matrices;
  if (model.experts) {
    const double experts =
        1 + matrices * (model.experts->count + (model.experts->shared_intermediate > 0 ? 1 : 0));
    mlp = model.expert_share() * experts + (model.mlp_share() - model.expert_share()) * matrices;
  }
  return model.layers * (attention + norms + mlp) + 2 + (model.tied_embeddings ? 0 : 1);
}

double sent_parameters(const TaskWork& training) {
  if (!sends_adapters(training)) return training.model->parameters();
  return trainable_parameters(training, training.model->layers, false, false);
}

double sent_tensors(const TaskWork& training) {
  return sends_adapters(training) ? training.model->layers : weight_tensors(*training.model);
}

std::vector<DeviceId> union_of(std::span<const DeviceId> some, std::span<const DeviceId> others) {
  std::vector<DeviceId> all;
  std::set_union(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(all));
  return all;
}

double largest_part(const TaskWork& task) {
  double largest = 0;
  for (const Replica& replica : task.plan->replicas) {
    for (std::size_t j = 0; j < replica.stages.size(); ++j) {
      const Stage& stage = replica.stages[j];
      largest =
          std::max(largest, part_of_weights(*task.model, stage.layers, j == 0, j + 1 == replica.stages.size(),
                                            task.plan->tensor_parallel(stage)));
    }
  }
  return largest;
}

}  // namespace sextant::terms
