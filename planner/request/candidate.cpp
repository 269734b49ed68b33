#include "planner/request/candidate.h"

#include <utility>

namespace sextant::inline planner {
namespace {

// first: the replica that comes first; the others follow in turn.
TaskPlan plan_without_stages(const Shape& shape, std::size_t first, const Execution& execution, int sequences) {
  TaskPlan plan;
  plan.micro_batch_sequences = shape.micro_batch_sequences;
  plan.decode_batch_sequences = shape.decode_batch_sequences;
  plan.recompute = shape.recompute;
  plan.execution = execution;
  plan.replicas.resize(shape.sequences.size());
  std::size_t of = first;
  for (Replica& replica : plan.replicas) {
    replica.batch_share = static_cast<double>(shape.sequences[of]) / sequences;
    if (!shape.length_ranks.empty()) replica.length_rank = shape.length_ranks[of];
    of = of + 1 == shape.sequences.size() ? 0 : of + 1;
  }
  return plan;
}

void add_stages(const Shape& shape, std::span<const std::uint16_t> devices, Replica& replica) {
  const auto width = static_cast<std::size_t>(shape.tensor_parallel);
  replica.stages.reserve(shape.layers.size());
  for (std::size_t j = 0; j < shape.layers.size(); ++j) {
    Stage& stage = replica.stages.emplace_back(Stage{shape.layers[j], {}});
    stage.devices.reserve(width);
    for (const std::uint16_t device : devices.subspan(j * width, width))
      stage.devices.push_back(DeviceId{device});
  }
}

}  // namespace

std::vector<int> dealt_evenly(int total, int parts) {
  std::vector<int> dealt(static_cast<std::size_t>(parts), total / parts);
  for (int i = 0; i < total % parts; ++i) ++dealt[static_cast<std::size_t>(i)];
  return dealt;
}

std::vector<SequenceRange> length_ranges(const Shape& shape) {
  TaskPlan ranked;
  ranked.replicas.resize(shape.sequences.size());
  for (std::size_t i = 0; i < shape.length_ranks.size(); ++i)
    ranked.replicas[i].length_rank = shape.length_ranks[i];
  return length_ranges(ranked, shape.sequences);
}

ShapeTable::Shares ShapeTable::shares_of(const Shape& shape, const Fingerprint& deal) {
  Shares& known = shares_of_deal_.try_emplace(deal).first->second;
  if (known == nullptr) known = std::make_shared<const std::vector<std::uint32_t>>(new_shares_of(shape));
  return known;
}

std::vector<std::uint32_t> ShapeTable::new_shares_of(const Shape& shape) {
  const bool is_ranked = !shape.length_ranks.empty();
  const std::vector<SequenceRange> ranges = is_ranked ? length_ranges(shape) : std::vector<SequenceRange>{};
  std::vector<std::uint32_t> numbers;
  numbers.reserve(shape.sequences.size());
  for (std::size_t i = 0; i < shape.sequences.size(); ++i) {
    const Share share{shape.sequences[i], is_ranked ? ranges[i] : SequenceRange{}};
    const auto next = static_cast<std::uint32_t>(share_numbers_.size());
    numbers.push_back(share_numbers_.try_emplace(share, next).first->second);
  }
  return numbers;
}

int ShapeTable::add(const Shape& shape) {
  const Prints prints = prints_of(shape);
  const auto [known, is_new] = position_of_.try_emplace(prints.whole, size());
  if (is_new) {
    kinds_.push_back(kind_of_.try_emplace(prints.kind, size()).first->second);
    cuts_.push_back(cut_of_.try_emplace(prints.cut, size()).first->second);
    shares_.push_back(shares_of(shape, prints.deal));
    shapes_.push_back(shape);
  }
  return known->second;
}

// Kinds and cuts stay: costs are known by their numbers.
void ShapeTable::forget(int position) {
  Shape& shape = shapes_[static_cast<std::size_t>(position)];
  const Prints prints = prints_of(shape);
  position_of_.erase(prints.whole);
  shape = {};
  shares_[static_cast<std::size_t>(position)] = {};
  const auto known = shares_of_deal_.find(prints.deal);
  if (known->second.use_count() == 1) shares_of_deal_.erase(known);
}

ShapeTable::Prints ShapeTable::prints_of(const Shape& shape) {
  Prints prints;
  constexpr std::size_t kOthers = 7;
  std::vector<std::uint64_t> words;
  words.reserve(kOthers + shape.layers.size() + shape.sequences.size() + shape.length_ranks.size());
  const auto add = [&](int number) { words.push_back(static_cast<std::uint64_t>(number)); };
  add(shape.execution);
  add(shape.tensor_parallel);
  add(shape.data_parallel());
  for (const int layers : shape.layers) add(layers);
  prints.cut = DeviceClassHashes::of_words(words);
  add(shape.micro_batch_sequences);
  add(shape.decode_batch_sequences);
  add(static_cast<int>(shape.recompute));
  prints.kind = DeviceClassHashes::of_words(words);
  const std::size_t cut_and_batches = words.size();
  add(shape.data_parallel());  // where sequences end and ranks begin
  for (const int share : shape.sequences) add(share);
  for (const int rank : shape.length_ranks) add(rank);
  prints.whole = DeviceClassHashes::of_words(words);
  prints.deal = DeviceClassHashes::of_words(std::span(words).subspan(cut_and_batches));
  return prints;
}

TaskPlan task_plan(const Shape& shape, std::span<const std::uint16_t> devices, const Execution& execution,
                   int sequences) {
  TaskPlan plan = plan_without_stages(shape, 0, execution, sequences);
  const auto size = static_cast<std::size_t>(shape.replica_devices());
  for (std::size_t i = 0; i < plan.replicas.size(); ++i)
    add_stages(shape, devices.subspan(i * size, size), plan.replicas[i]);
  return plan;
}

TaskPlan first_replica_plan(const Shape& shape, int number, std::span<const std::uint16_t> devices,
                            const Execution& execution, int sequences) {
  TaskPlan plan = plan_without_stages(shape, static_cast<std::size_t>(number), execution, sequences);
  add_stages(shape, devices, plan.replicas.front());
  return plan;
}

TaskPlan one_device_plan(DeviceId device, int layers, const Execution& execution, int sequences) {
  Shape shape;
  shape.layers = {layers};
  shape.sequences = {sequences};
  const auto number = static_cast<std::uint16_t>(device.value);
  return task_plan(shape, {&number, 1}, execution, sequences);
}

std::optional<CanonicalLayout> canonical_layout_of(const TaskPlan& plan, int sequences) {
  CanonicalLayout seat;
  const std::vector<Stage>& first = plan.replicas.front().stages;
  seat.shape.tensor_parallel = first.front().width();
  seat.shape.micro_batch_sequences = plan.micro_batch_sequences;
  seat.shape.decode_batch_sequences = plan.decode_batch_sequences;
  seat.shape.recompute = plan.recompute;
  for (const Stage& stage : first) seat.shape.layers.push_back(stage.layers);
  seat.shape.sequences = replica_sequences(plan, sequences);
  if (deals_by_length(plan)) {
    for (const Replica& replica : plan.replicas) seat.shape.length_ranks.push_back(replica.length_rank);
  }
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

}  // namespace sextant::inline planner
