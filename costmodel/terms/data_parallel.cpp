#include "costmodel/terms/data_parallel.h"

#include <algorithm>

namespace sextant::terms {

double trainable_parameters(const TaskWork& task, int layers, bool is_first, bool is_last) {
  const Model& model = *task.model;
  const double rank = task.execution().lora_rank;
  if (rank == 0) return slice_parameters(model, layers, is_first, is_last);
  const double h = model.hidden;
  const double query = static_cast<double>(model.heads) * model.head_dim;
  const double key = static_cast<double>(model.kv_heads) * model.head_dim;
  const double mlp = (model.gated_mlp ? 3.0 : 2.0) * (h + model.intermediate);
  return layers * rank * ((h + query) + 2 * (h + key) + (query + h) + mlp);
}

double reduced_share(const TaskWork& task, const GradientGroup& group, double n) {
  const double all = trainable_parameters(task, group.layers, group.holds_embedding, group.holds_head);
  const double dense_share = 2.0 * (n - 1.0) / (n * group.tensor_parallel);
  const double width = expert_width(task.execution(), group.tensor_parallel);
  if (width == group.tensor_parallel || task.execution().lora_rank > 0) return all * dense_share;
  const double experts = group.layers * task.model->layer_expert_parameters();
  const double holders = std::max(1.0, n * group.tensor_parallel / width);
  return (all - experts) * dense_share + experts * 2.0 * (holders - 1.0) / (holders * width);
}

}  // namespace sextant::terms
