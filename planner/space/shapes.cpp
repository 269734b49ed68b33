#include "planner/space/shapes.h"

#include <algorithm>

namespace sextant {
namespace {

// Micro-batch sizes that a replica with so many sequences can fill: a larger one is the same as all of them.
std::vector<int> sizes_within(int share, const std::vector<int>& wanted) {
  std::vector<int> sizes;
  sizes.reserve(wanted.size());
  for (const int size : wanted) sizes.push_back(std::min(size, share));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

void add_sizes(Shape shape, bool training, const ShapeLimits& limits, std::vector<Shape>& shapes) {
  for (const int size : sizes_within(shape.sequences.front(), limits.micro_batch_sequences)) {
    shape.micro_batch_sequences = size;
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      if (recompute == Recompute::full && !(training && limits.try_recompute)) continue;
      shape.recompute = recompute;
      shapes.push_back(shape);
    }
  }
}

}  // namespace

bool can_cut(const Model& model, int tensor_parallel) {
  const int columns = model.experts ? model.experts->intermediate : model.intermediate;
  if (model.heads % tensor_parallel != 0 || columns % tensor_parallel != 0) return false;
  if (model.kv_heads % tensor_parallel != 0 && tensor_parallel % model.kv_heads != 0) return false;
  return model.vocabulary == 0 || model.vocabulary % tensor_parallel == 0;
}

std::vector<Shape> shapes_of(const Task& task, const Workflow& workflow, int devices,
                             const ShapeLimits& limits) {
  std::vector<Shape> shapes;
  const Model& model = workflow.model_of(task);
  for (int tp = 1; tp <= std::min(devices, limits.most_tensor_parallel); ++tp) {
    if (devices % tp != 0 || !can_cut(model, tp)) continue;
    for (int pp = 1; pp <= std::min({devices / tp, model.layers, limits.most_pipeline_parallel}); ++pp) {
      const int dp = devices / tp / pp;
      if (dp * pp * tp != devices || dp > workflow.sequences()) continue;
      Shape shape;
      shape.tensor_parallel = tp;
      shape.layers = dealt_evenly(model.layers, pp);
      shape.sequences = dealt_evenly(workflow.sequences(), dp);
      add_sizes(shape, task.kind == TaskKind::training, limits, shapes);
    }
  }
  return shapes;
}

}  // namespace sextant
