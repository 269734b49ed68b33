#include "planner/evaluate/candidate.h"

#include <algorithm>

namespace sextant {
namespace {

bool same_kind(const Shape& a, const Shape& b) {
  return a.tensor_parallel == b.tensor_parallel && a.micro_batch_sequences == b.micro_batch_sequences &&
         a.decode_batch_sequences == b.decode_batch_sequences && a.recompute == b.recompute &&
         a.layers == b.layers && a.sequences.size() == b.sequences.size();
}

}  // namespace

std::vector<int> dealt_evenly(int total, int parts) {
  std::vector<int> dealt(static_cast<std::size_t>(parts), total / parts);
  for (int i = 0; i < total % parts; ++i) ++dealt[static_cast<std::size_t>(i)];
  return dealt;
}

int ShapeTable::add(const Shape& shape) {
  int kind = size();
  for (int s = 0; s < size(); ++s) {
    if (!same_kind(at(s), shape)) continue;
    if (at(s) == shape) return s;
    kind = std::min(kind, kinds_[static_cast<std::size_t>(s)]);
  }
  shapes_.push_back(shape);
  kinds_.push_back(kind);
  return size() - 1;
}

TaskPlan task_plan(const Shape& shape, const std::vector<std::uint16_t>& devices, const Execution& execution,
                   int sequences) {
  TaskPlan plan;
  plan.micro_batch_sequences = shape.micro_batch_sequences;
  plan.decode_batch_sequences = shape.decode_batch_sequences;
  plan.recompute = shape.recompute;
  plan.execution = execution;
  std::size_t next = 0;
  for (const int share : shape.sequences) {
    Replica replica{static_cast<double>(share) / sequences, {}};
    for (const int layers : shape.layers) {
      Stage stage{layers, {}};
      for (int k = 0; k < shape.tensor_parallel; ++k) stage.devices.push_back(DeviceId{devices[next++]});
      replica.stages.push_back(std::move(stage));
    }
    plan.replicas.push_back(std::move(replica));
  }
  return plan;
}

}  // namespace sextant
