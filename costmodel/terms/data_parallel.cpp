#include "costmodel/terms/data_parallel.h"

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

}  // namespace sextant::terms
