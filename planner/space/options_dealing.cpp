// The load splits of an option: its layers and sequences.
#include <algorithm>

#include "planner/space/options.h"

namespace sextant::inline planner {

void OptionTable::balance_load() {
  weights_.clear();
  for (std::size_t t = 0; t < workflow_.tasks.size(); ++t) {
    const Execution& execution = evaluator_.execution(static_cast<int>(t));
    weights_.push_back(
        load_weights_of(workflow_.tasks[t], execution, workflow_, cluster_, evaluator_.sorted_lengths()));
  }
  known_.clear();
  kin_.clear();
}

int OptionTable::split_shape(int task, int even_shape, DeviceOrder order, LoadSplit dealing,
                             const Devices& devices) {
  if (dealing == LoadSplit::evenly) return even_shape;
  ShapeTable& shapes = evaluator_.shapes(task);
  const LoadWeights& weights = weights_[static_cast<std::size_t>(task)];
  Shape dealt = balanced(shapes.at(even_shape), order, devices, weights, dealing);
  const Execution& execution = evaluator_.execution(task, dealt);
  return can_deal(execution, dealt.layers, !dealt.length_ranks.empty()) ? shapes.add(dealt) : even_shape;
}

int OptionTable::shape_dealt_by_cost(int task, const Option& way, const Devices& devices) {
  ShapeTable& shapes = evaluator_.shapes(task);
  const Shape& shape = shapes.at(way.shape);
  const auto times = evaluator_.stage_times(task, placed(shape, way.shape, way.order, devices));
  if (times.empty()) return way.shape;
  Shape dealt = balanced(shape, times);
  const bool is_by_length = !dealt.length_ranks.empty();
  return can_deal(evaluator_.execution(task, dealt), dealt.layers, is_by_length) ? shapes.add(dealt)
                                                                                 : way.shape;
}

// The shape with the load split of `way` but its own micro-batches.
int OptionTable::shape_dealt_like(int task, int even_shape, const Option& way, const Devices& devices) {
  if (way.dealing != LoadSplit::by_cost) return split_shape(task, even_shape, way.order, way.dealing, devices);
  ShapeTable& shapes = evaluator_.shapes(task);
  Shape shape = shapes.at(even_shape);
  const Shape& dealt = shapes.at(way.shape);
  shape.layers = dealt.layers;
  shape.sequences = dealt.sequences;
  shape.length_ranks = dealt.length_ranks;
  return shapes.add(shape);
}

// Adds a split by cost, starting from the fastest option.
void OptionTable::add_dealt_by_cost(int task, const Devices& devices, std::vector<Option>& ways) {
  const Option fastest = *std::min_element(ways.begin(), ways.end(), [](const Option& a, const Option& b) {
    return a.value.time_s < b.value.time_s;
  });
  const int dealt = shape_dealt_by_cost(task, fastest, devices);
  if (std::any_of(ways.begin(), ways.end(), [&](const Option& way) { return way.shape == dealt; })) return;
  ways.push_back(costed(task, dealt, fastest.order, devices));
  ways.back().even_shape = fastest.even_shape;
  ways.back().dealing = LoadSplit::by_cost;
}

}  // namespace sextant::inline planner
