#include "planner/evaluate/task_part.h"

#include <algorithm>

#include "costmodel/terms/smooth.h"

namespace sextant {

TaskPart::TaskPart(TaskModel model, const Problem<double>& frame, const Seating& seating)
    : model_(std::move(model)), frame_(&frame), seating_(&seating), is_separable_(model_.is_separable()) {
  now_.used.resize(seating.used_words);
}

// ---- looking up ----

std::uint64_t TaskPart::head_of(int number) const {
  const int shape = is_separable_ ? shapes_.kind(now_.placement.shape) : now_.placement.shape;
  return static_cast<std::uint64_t>(shape) << 32 | static_cast<std::uint32_t>(number);
}

// Without sharding gradients are reduced once a mini-batch, whatever the micro-batches are.
std::uint64_t TaskPart::head_of_stage(int stage) const {
  if (!is_separable_) return head_of(0);
  if (model_.execution().zero_stage >= 2) return head_of(stage);
  return static_cast<std::uint64_t>(shapes_.cut(now_.placement.shape)) << 32 |
         static_cast<std::uint32_t>(stage);
}

std::span<const std::uint16_t> TaskPart::of_replica(const std::vector<std::uint16_t>& all, int replica) const {
  if (!is_separable_) return all;
  const auto size = static_cast<std::size_t>(shape().replica_devices());
  return std::span<const std::uint16_t>(all).subspan(static_cast<std::size_t>(replica) * size, size);
}

// Nodes, zones and regions numbered as they first appear, and the class of each node.
Fingerprint TaskPart::alike_print(std::uint64_t head, std::span<const std::uint16_t> devices) {
  const Cluster& cluster = frame_->cluster();
  nodes_.clear();
  zones_.clear();
  regions_.clear();
  const auto number = [](std::vector<int>& seen, int key) {
    const auto found = std::find(seen.begin(), seen.end(), key);
    const auto position = static_cast<std::uint64_t>(found - seen.begin());
    if (found == seen.end()) seen.push_back(key);
    return position;
  };
  words_.assign(1, head);
  NodeId last{-1};
  for (const std::uint16_t device : devices) {
    const NodeId node = cluster.node_of(DeviceId{device});
    if (node != last) {
      words_.push_back(static_cast<std::uint64_t>(cluster.node_class(node)) << 48 |
                       number(nodes_, node.value) << 32 | number(zones_, cluster.zone_number(node)) << 16 |
                       number(regions_, cluster.region_number(node)));
      last = node;
    } else {
      words_.push_back(words_.back());
    }
  }
  return SeatPrints::of_words(words_);
}

const ReplicaValue* TaskPart::ask(std::span<const std::uint16_t> devices, int sequences) {
  ++asked_;
  values_.push_back(is_separable_ ? model_.replica(shape(), devices, sequences)
                                  : model_.whole(shape(), devices));
  return &values_.back();
}

const ReplicaValue* TaskPart::value_of(int replica, const Fingerprint& print) {
  if (const auto* known = known_.find(print)) return *known;
  const auto devices = of_replica(now_.placement.devices, replica);
  const int sequences = shape().sequences[static_cast<std::size_t>(replica)];
  const ReplicaValue* value = nullptr;
  if (seating_->parts_are_alike) {
    const Fingerprint places = alike_print(head_of(is_separable_ ? sequences : 0), devices);
    if (const auto* known = alike_.find(places)) value = *known;
    if (value == nullptr) alike_.insert(places, value = ask(devices, sequences));
  } else {
    value = ask(devices, sequences);
  }
  known_.insert(print, value);
  return value;
}

void TaskPart::look_up_replica(int replica) {
  const int sequences = shape().sequences[static_cast<std::size_t>(replica)];
  const std::uint64_t head = head_of(is_separable_ ? sequences : 0);
  now_.replicas[static_cast<std::size_t>(replica)] =
      value_of(replica, seating_->prints.of(head, of_replica(now_.seats, replica)));
}

// Neighbours are often of one machine: alike in a row are looked up once.
void TaskPart::look_up_all() {
  const Shape& cut = shape();
  const std::size_t count = is_separable_ ? cut.sequences.size() : 1;
  const std::size_t size = now_.seats.size() / count;
  const std::uint64_t base = head_of(0);
  now_.replicas.resize(count);
  Fingerprint last;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t head = is_separable_ ? base | static_cast<std::uint32_t>(cut.sequences[i]) : base;
    const Fingerprint print = seating_->prints.of(head, std::span(now_.seats).subspan(i * size, size));
    if (i > 0 && print == last) {
      now_.replicas[i] = now_.replicas[i - 1];
    } else {
      const auto* known = known_.find(print);
      now_.replicas[i] = known != nullptr ? *known : value_of(static_cast<int>(i), print);
    }
    last = print;
  }
  now_.reduction_s.assign(!model_.is_training() ? 0 : is_separable_ ? shape().layers.size() : 1, 0.0);
  if (!has_reductions()) return;
  for (std::size_t j = 0; j < now_.reduction_s.size(); ++j) look_up_stage(static_cast<int>(j));
}

bool TaskPart::has_reductions() const {
  return model_.is_training() &&
         (!is_separable_ || shape().data_parallel() > 1 || model_.execution().context_parallel > 1);
}

void TaskPart::look_up_stage(int stage) {
  const auto width = static_cast<std::size_t>(shape().tensor_parallel);
  const auto size = static_cast<std::size_t>(shape().replica_devices());
  const auto gather = [&](const std::vector<std::uint16_t>& all, std::vector<std::uint16_t>& of_stage) {
    of_stage.clear();
    const auto first = is_separable_ ? static_cast<std::size_t>(stage) * width : 0;
    const auto count = is_separable_ ? width : size;
    for (std::size_t at = first; at < all.size(); at += size) {
      for (std::size_t k = 0; k < count; ++k) of_stage.push_back(all[at + k]);
    }
  };
  gather(now_.seats, stage_seats_);
  const Fingerprint print = seating_->prints.of(head_of_stage(stage), stage_seats_);
  double& slot = now_.reduction_s[static_cast<std::size_t>(stage)];
  if (const double* known = known_reductions_.find(print)) {
    slot = *known;
    return;
  }
  gather(now_.placement.devices, stage_devices_);
  const Fingerprint places =
      seating_->parts_are_alike ? alike_print(head_of_stage(stage), stage_devices_) : print;
  if (const double* known = alike_reductions_.find(places)) {
    slot = *known;
    known_reductions_.insert(print, slot);
    return;
  }
  ++asked_;
  slot = is_separable_ ? model_.reduction_s(shape(), stage, stage_devices_)
                       : model_.reductions_s(shape(), stage_devices_);
  known_reductions_.insert(print, slot);
  alike_reductions_.insert(places, slot);
}

// ---- summing up (costmodel/task.h) ----

double TaskPart::exposed_reductions_s(double compute_s) const {
  const double reduction_s = *std::max_element(now_.reduction_s.begin(), now_.reduction_s.end());
  if (!(reduction_s > 0)) return 0;
  constexpr double kBackwardShare = 2.0 / 3.0;  // of forward and backward
  const double mini_batches = frame_->workflow.mini_batches;
  const double micro_batches = now_.replicas.front()->micro_batches / mini_batches;
  const bool reduces_every_time = model_.execution().zero_stage >= 2 && micro_batches > 1;
  const double beside_s =
      kBackwardShare * compute_s / (mini_batches * (reduces_every_time ? 1.0 : micro_batches));
  return mini_batches * terms::exposed(reduction_s / mini_batches, beside_s,
                                       frame_->coefficient(CoefficientId::data_parallel_overlap));
}

void TaskPart::sum_up() {
  const ReplicaValue* slowest = now_.replicas.front();
  const ReplicaValue* last = slowest;
  double optimizer_s = slowest->optimizer_s;
  TaskValue value{0,
                  slowest->gather_s,
                  slowest->gather_s,
                  slowest->copied_s,
                  slowest->fetched_s,
                  slowest->most_resident_bytes,
                  slowest->most_working_bytes};
  for (const ReplicaValue* replica : now_.replicas) {
    if (replica == last) continue;
    last = replica;
    if (slowest->time_s < replica->time_s) slowest = replica;
    optimizer_s = std::max(optimizer_s, replica->optimizer_s);
    value.fastest_gather_s = std::min(value.fastest_gather_s, replica->gather_s);
    value.slowest_gather_s = std::max(value.slowest_gather_s, replica->gather_s);
    value.copied_s = std::max(value.copied_s, replica->copied_s);
    value.fetched_s = std::max(value.fetched_s, replica->fetched_s);
    value.most_resident_bytes = std::max(value.most_resident_bytes, replica->most_resident_bytes);
    value.most_working_bytes = std::max(value.most_working_bytes, replica->most_working_bytes);
  }
  value.time_s = slowest->time_s * (1.0 + seating_->straggler_factor[now_.placement.devices.size()]);
  if (model_.is_training()) value.time_s += exposed_reductions_s(slowest->compute_s) + optimizer_s;
  now_.value = value;
}

// ---- placements and moves ----

void TaskPart::load(const Placement& placement) {
  now_.placement.shape = placement.shape;
  now_.placement.devices.assign(placement.devices.begin(), placement.devices.end());
  std::fill(now_.used.begin(), now_.used.end(), 0);
  now_.seats.resize(placement.devices.size());
  for (std::size_t p = 0; p < placement.devices.size(); ++p) {
    const std::uint16_t device = placement.devices[p];
    now_.seats[p] = seating_->seat_of[device];
    now_.used[device / 64U] |= 1ULL << (device % 64U);
  }
  look_up_all();
  sum_up();
}

void TaskPart::touch() {
  if (is_touched_) return;
  is_touched_ = true;
  before_.reduction_s = now_.reduction_s;
  before_.value = now_.value;
}

void TaskPart::mark(int position) {
  touch();
  old_devices_.push_back({position, now_.placement.devices[static_cast<std::size_t>(position)]});
  const int replica = is_separable_ ? position / shape().replica_devices() : 0;
  if (std::find(changed_replicas_.begin(), changed_replicas_.end(), replica) == changed_replicas_.end()) {
    changed_replicas_.push_back(replica);
    old_replicas_.push_back(now_.replicas[static_cast<std::size_t>(replica)]);
  }
}

void TaskPart::set_device(int position, std::uint16_t device) {
  now_.placement.devices[static_cast<std::size_t>(position)] = device;
  now_.seats[static_cast<std::size_t>(position)] = seating_->seat_of[device];
}

void TaskPart::replace_device(int position, std::uint16_t device) {
  mark(position);
  uses_other_devices_ = true;
  const std::uint16_t old = now_.placement.devices[static_cast<std::size_t>(position)];
  now_.used[old / 64U] &= ~(1ULL << (old % 64U));
  now_.used[device / 64U] |= 1ULL << (device % 64U);
  set_device(position, device);
}

void TaskPart::swap_positions(int first, int second) {
  mark(first);
  mark(second);
  const std::uint16_t device = now_.placement.devices[static_cast<std::size_t>(first)];
  set_device(first, now_.placement.devices[static_cast<std::size_t>(second)]);
  set_device(second, device);
}

void TaskPart::replace(const Placement& placement) {
  if (!is_replaced_) {
    undo();  // of changes before it, which it makes moot
    touch();
    before_ = now_;
    is_replaced_ = uses_other_devices_ = true;
  }
  load(placement);
}

void TaskPart::refresh_stages() {
  if (!has_reductions()) return;
  if (!is_separable_) return look_up_stage(0);
  int last = -1;
  for (const OldDevice& old : old_devices_) {
    const int stage = old.position % shape().replica_devices() / shape().tensor_parallel;
    if (stage != last) look_up_stage(stage);
    last = stage;
  }
}

void TaskPart::refresh() {
  if (!is_touched_ || is_replaced_) return;
  for (const int replica : changed_replicas_) look_up_replica(replica);
  refresh_stages();
  sum_up();
}

void TaskPart::keep() {
  is_touched_ = is_replaced_ = uses_other_devices_ = false;
  changed_replicas_.clear();
  old_replicas_.clear();
  old_devices_.clear();
}

void TaskPart::undo() {
  if (!is_touched_) return;
  if (is_replaced_) {
    std::swap(now_, before_);
  } else {
    for (const OldDevice& old : old_devices_) {
      const std::uint16_t device = now_.placement.devices[static_cast<std::size_t>(old.position)];
      now_.used[device / 64U] &= ~(1ULL << (device % 64U));
    }
    for (auto old = old_devices_.rbegin(); old != old_devices_.rend(); ++old)
      set_device(old->position, old->device);
    for (const OldDevice& old : old_devices_) {
      const std::uint16_t device = now_.placement.devices[static_cast<std::size_t>(old.position)];
      now_.used[device / 64U] |= 1ULL << (device % 64U);
    }
    for (std::size_t c = 0; c < changed_replicas_.size(); ++c) {
      now_.replicas[static_cast<std::size_t>(changed_replicas_[c])] = old_replicas_[c];
    }
    std::swap(now_.reduction_s, before_.reduction_s);
    now_.value = before_.value;
  }
  keep();
}

}  // namespace sextant
