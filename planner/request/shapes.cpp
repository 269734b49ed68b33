#include "planner/request/shapes.h"

#include <algorithm>
#include <limits>

namespace sextant::inline planner {
namespace {

// Everything that a shape says of batches and of the execution, for the degrees that it has already.
class BatchCuts {
 public:
  BatchCuts(const Task& task, const Workflow& workflow, const ShapeLimits& limits, const TaskChoices& choices)
      : task_(task),
        workflow_(workflow),
        limits_(limits),
        choices_(choices),
        recomputes_(recompute_choices(task.kind, choices, limits.try_recompute)) {}

  void add(Shape shape, std::vector<Shape>& shapes) const {
    const Execution& execution = choices_.executions[static_cast<std::size_t>(shape.execution)];
    const int share = shape.sequences.front();
    const std::vector<int> sizes =
        counts_micro_batches_in_sequences(task_.kind, execution)
            ? sizes_within(share, choices_.micro_batch_sequences.empty() ? limits_.micro_batch_sequences
                                                                         : choices_.micro_batch_sequences)
            : std::vector<int>{1};
    for (const int batch : decode_batches_of(shape, execution)) {
      shape.decode_batch_sequences = batch;
      for (const int size : sizes) {
        shape.micro_batch_sequences = size;
        for (const Recompute recompute : recomputes_) {
          shape.recompute = recompute;
          shapes.push_back(shape);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::vector<int> decode_batches_of(const Shape& shape, const Execution& execution) const {
    if (task_.kind == TaskKind::generation && !choices_.decode_batch_sequences.empty())
      return choices_.decode_batch_sequences;
    return decode_batches(task_, workflow_, execution, shape.sequences.front(), shape.pipeline_parallel(),
                          shape.tensor_parallel, limits_.memory);
  }

  const Task& task_;
  const Workflow& workflow_;
  const ShapeLimits& limits_;
  const TaskChoices& choices_;
  std::vector<Recompute> recomputes_;
};

// Devices of a stage at most. An engine holds whole weights: where those are more than a machine has room for,
// its matrices are split over several machines, as no stage of it fits one otherwise.
int max_width(const Task& task, const Workflow& workflow, const ShapeLimits& limits,
              const TaskChoices& choices) {
  constexpr double kMaxShare = 0.5;  // of the memory, for weights
  int width = limits.tensor_parallel_limit;
  if (task.kind != TaskKind::generation || limits.memory.max_bytes <= 0) return width;
  double bytes = std::numeric_limits<double>::infinity();
  int fewest = std::numeric_limits<int>::max();  // the smallest groups of experts need the widest stages
  for (const Execution& execution : choices.executions) fewest = std::min(fewest, execution.expert_parallel);
  for (const Execution& execution : choices.executions) {
    if (execution.expert_parallel > fewest) continue;
    const Precision stored =
        execution.weight_precision.value_or(execution.precision.value_or(workflow.precision));
    bytes = std::min(bytes, bytes_per_element(stored) * workflow.model_of(task).parameters() /
                                std::max(1, execution.expert_parallel));
  }
  if (bytes <= kMaxShare * limits.memory.max_bytes * width) return width;
  while (bytes > kMaxShare * limits.memory.max_bytes * width) width *= 2;
  return 2 * width;  // with room for a larger cache
}

int at_most(int limit, int of_choices) { return of_choices > 0 ? std::min(limit, of_choices) : limit; }

}  // namespace

std::vector<int> sizes_within(int share, const std::vector<int>& wanted) {
  std::vector<int> sizes;
  sizes.reserve(wanted.size());
  for (const int size : wanted) sizes.push_back(std::min(size, share));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

bool can_cut(const Model& model, int tensor_parallel) {
  const int columns = model.experts ? model.experts->intermediate : model.intermediate;
  if (model.heads % tensor_parallel != 0 || columns % tensor_parallel != 0) return false;
  if (model.kv_heads % tensor_parallel != 0 && tensor_parallel % model.kv_heads != 0) return false;
  if (model.linear_attention && model.linear_attention->key_heads % tensor_parallel != 0) return false;
  return model.vocabulary == 0 || model.vocabulary % tensor_parallel == 0;
}

std::vector<Shape> shapes_of(const Task& task, const Workflow& workflow, int devices,
                             const ShapeLimits& limits) {
  std::vector<Shape> shapes;
  const Model& model = workflow.model_of(task);
  const TaskChoices& choices =
      choices_for(limits.choices, static_cast<std::size_t>(&task - workflow.tasks.data()));
  const BatchCuts cuts(task, workflow, limits, choices);
  const int max_tp =
      at_most(std::min(devices, max_width(task, workflow, limits, choices)), choices.max_tensor_parallel);
  const int max_pp =
      at_most(std::min(model.layers, limits.pipeline_parallel_limit), choices.max_pipeline_parallel);
  for (int tp = 1; tp <= max_tp; ++tp) {
    if (!can_cut(model, tp)) continue;
    for (int pp = 1; pp <= max_pp; ++pp) {
      for (std::size_t e = 0; e < choices.executions.size(); ++e) {
        const Execution& execution = choices.executions[e];
        const int width = tp * execution.context_parallel;
        if (devices % (width * pp) != 0) continue;
        if (choices.stages_hold_experts && pp > 1 && execution.expert_parallel > width) continue;
        const int dp = devices / width / pp;
        if (dp > workflow.sequences() || (choices.has_even_batch && workflow.sequences() % dp != 0)) continue;
        if (!can_execute(execution, task, workflow, dp, pp, width)) continue;
        Shape shape;
        shape.tensor_parallel = width;
        shape.execution = static_cast<int>(e);
        shape.sequences = dealt_evenly(workflow.sequences(), dp);
        for (std::vector<int>& layers :
             stage_layers(model.layers, pp, execution.virtual_stages, choices.stages)) {
          shape.layers = std::move(layers);
          cuts.add(shape, shapes);
        }
      }
    }
  }
  return shapes;
}

}  // namespace sextant::inline planner
