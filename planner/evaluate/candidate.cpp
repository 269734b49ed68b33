#include "planner/evaluate/candidate.h"

#include <utility>

namespace sextant {
namespace {

std::vector<int> cut_of(const Shape& shape) {
  std::vector<int> parts{shape.tensor_parallel, shape.data_parallel()};
  parts.insert(parts.end(), shape.layers.begin(), shape.layers.end());
  return parts;
}

}  // namespace

std::vector<int> dealt_evenly(int total, int parts) {
  std::vector<int> dealt(static_cast<std::size_t>(parts), total / parts);
  for (int i = 0; i < total % parts; ++i) ++dealt[static_cast<std::size_t>(i)];
  return dealt;
}

int ShapeTable::add(const Shape& shape) {
  std::vector<int> parts = cut_of(shape);
  const int cut = cut_of_.emplace(parts, size()).first->second;
  parts.insert(parts.end(),
               {shape.micro_batch_sequences, shape.decode_batch_sequences, static_cast<int>(shape.recompute)});
  const int kind = kind_of_.emplace(parts, size()).first->second;
  parts.insert(parts.end(), shape.sequences.begin(), shape.sequences.end());
  const auto [known, is_new] = position_of_.emplace(std::move(parts), size());
  if (is_new) {
    shapes_.push_back(shape);
    kinds_.push_back(kind);
    cuts_.push_back(cut);
  }
  return known->second;
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

std::optional<Seat> seat_of(const TaskPlan& plan, int sequences) {
  Seat seat;
  const std::vector<Stage>& first = plan.replicas.front().stages;
  seat.shape.tensor_parallel = first.front().width();
  seat.shape.micro_batch_sequences = plan.micro_batch_sequences;
  seat.shape.decode_batch_sequences = plan.decode_batch_sequences;
  seat.shape.recompute = plan.recompute;
  for (const Stage& stage : first) seat.shape.layers.push_back(stage.layers);
  seat.shape.sequences = replica_sequences(plan, sequences);
  for (const Replica& replica : plan.replicas) {
    if (replica.stages.size() != first.size()) return std::nullopt;
    for (std::size_t j = 0; j < first.size(); ++j) {
      const Stage& stage = replica.stages[j];
      if (stage.layers != first[j].layers || stage.width() != seat.shape.tensor_parallel) return std::nullopt;
      for (const DeviceId device : stage.devices)
        seat.devices.push_back(static_cast<std::uint16_t>(device.value));
    }
  }
  return seat;
}

}  // namespace sextant
