// Moves of one task's tasklets, and undoing them.
#include <algorithm>

#include "planner/evaluate/task_part.h"

namespace sextant::inline planner {

void TaskPart::touch() {
  if (is_touched_) return;
  is_touched_ = true;
  if (now_ != &own_) {
    own_ = *now_;
    now_ = &own_;
    const Shape& cut = shape();
    const int size = static_cast<int>(own_.placement.devices.size());
    const bool is_separable = model_.is_separable(cut);
    replica_size_ = is_separable ? cut.replica_devices() : size;
    stage_size_ = is_separable ? cut.tensor_parallel : size;
    has_reductions_ = has_reductions(cut);
  }
  old_value_ = own_.value;
}

TaskPart::Place TaskPart::place_of(int position) const {
  const int replica = position / replica_size_;
  const int in_replica = position - replica * replica_size_;
  const int stage = in_replica / stage_size_;
  return {position, replica, in_replica, stage, in_replica + (replica - stage) * stage_size_};
}

TaskPart::Place TaskPart::mark(int position) {
  touch();
  const Place place = place_of(position);
  old_devices_.push_back({place, own_.placement.devices[static_cast<std::size_t>(position)]});
  const auto replica = static_cast<std::size_t>(place.replica), stage = static_cast<std::size_t>(place.stage);
  if (std::none_of(old_replicas_.begin(), old_replicas_.end(),
                   [&](const OldReplica& old) { return old.replica == place.replica; }))
    old_replicas_.push_back({place.replica, own_.replicas[replica], own_.replica_sums[replica]});
  if (has_reductions_ && std::none_of(old_stages_.begin(), old_stages_.end(),
                                      [&](const OldStage& old) { return old.stage == place.stage; }))
    old_stages_.push_back({place.stage, own_.reduction_s[stage], own_.stage_sums[stage]});
  return place;
}

void TaskPart::set_device(const Place& place, std::uint16_t device) {
  std::uint16_t& slot = own_.placement.devices[static_cast<std::size_t>(place.position)];
  const std::uint16_t old_seat = seating_->class_of[slot], seat = seating_->class_of[device];
  slot = device;
  if (old_seat == seat) return;
  const auto turn = [&](int position, Fingerprint& sum) {
    const auto at = static_cast<std::size_t>(position);
    sum += seating_->prints.at(at, seat);
    sum -= seating_->prints.at(at, old_seat);
  };
  turn(place.in_replica, own_.replica_sums[static_cast<std::size_t>(place.replica)]);
  if (has_reductions_) turn(place.in_stage, own_.stage_sums[static_cast<std::size_t>(place.stage)]);
}

void TaskPart::replace_device(int position, std::uint16_t device) {
  const Place place = mark(position);
  uses_other_devices_ = true;
  const std::uint16_t old = own_.placement.devices[static_cast<std::size_t>(position)];
  own_.used[old / 64U] &= ~(1ULL << (old % 64U));
  own_.used[device / 64U] |= 1ULL << (device % 64U);
  set_device(place, device);
}

void TaskPart::swap_positions(int first, int second) {
  const Place first_place = mark(first), second_place = mark(second);
  const std::uint16_t device = own_.placement.devices[static_cast<std::size_t>(first)];
  set_device(first_place, own_.placement.devices[static_cast<std::size_t>(second)]);
  set_device(second_place, device);
}

void TaskPart::replace(const Placement& placement) {
  if (!is_replaced_) {
    undo();  // earlier changes, which the replacement makes obsolete
    before_ = now_;
    is_touched_ = is_replaced_ = uses_other_devices_ = true;
  }
  load(placement);
}

// A replica on the same device classes as before the move has the same cost.
bool TaskPart::refresh_replicas() {
  bool has_changed = false;
  for (const OldReplica& old : old_replicas_) {
    const auto replica = static_cast<std::size_t>(old.replica);
    const Fingerprint& sum = own_.replica_sums[replica];
    const ReplicaValue* value =
        sum == old.sum ? old.value : value_of(old.replica, DeviceClassHashes::of_sum(sum), own_);
    const ReplicaValue* last = own_.replicas[replica];
    if (value == last) continue;
    has_changed = true;
    own_.replicas[replica] = value;
    if (value->bytes == last->bytes) continue;
    const PositionBytes& bytes = *value->bytes;
    const std::uint16_t* devices = &own_.placement.devices[replica * static_cast<std::size_t>(replica_size_)];
    for (std::size_t p = 0; p < bytes.resident.size(); ++p)
      set_bytes(devices[p], bytes.resident[p], bytes.working[p]);
  }
  return has_changed;
}

bool TaskPart::refresh_stages() {
  bool has_changed = false;
  for (const OldStage& old : old_stages_) {
    const auto stage = static_cast<std::size_t>(old.stage);
    const Fingerprint& sum = own_.stage_sums[stage];
    const double reduction_s =
        sum == old.sum ? old.reduction_s : reduction_of(old.stage, DeviceClassHashes::of_sum(sum), own_);
    has_changed = has_changed || own_.reduction_s[stage] != reduction_s;
    own_.reduction_s[stage] = reduction_s;
  }
  return has_changed;
}

void TaskPart::set_bytes(std::uint16_t device, double resident, double working) {
  double& old_resident = own_.resident_bytes[device];
  double& old_working = own_.working_bytes[device];
  if (old_resident == resident && old_working == working) return;
  old_bytes_.push_back({device, old_resident, old_working});
  changed_devices_.push_back(device);
  old_resident = resident;
  old_working = working;
}

// Updates the changed positions; refresh_replicas has updated replicas whose needs changed as a whole.
void TaskPart::refresh_bytes() {
  for (const OldDevice& old : old_devices_) {
    if (uses_other_devices_ && (own_.used[old.device / 64U] >> (old.device % 64U) & 1U) == 0)
      set_bytes(old.device, 0, 0);
    const PositionBytes& bytes = *own_.replicas[static_cast<std::size_t>(old.place.replica)]->bytes;
    const auto p = static_cast<std::size_t>(old.place.in_replica);
    set_bytes(own_.placement.devices[static_cast<std::size_t>(old.place.position)], bytes.resident[p],
              bytes.working[p]);
  }
}

bool TaskPart::refresh() {
  if (!is_touched_ || is_replaced_) return is_replaced_;
  const bool has_other_replicas = refresh_replicas();
  const bool has_other_stages = refresh_stages();
  if (has_other_replicas || has_other_stages) sum_up(own_);
  refresh_bytes();
  return has_other_replicas || has_other_stages;
}

void TaskPart::keep() {
  is_touched_ = is_replaced_ = uses_other_devices_ = false;
  before_ = nullptr;
  old_replicas_.clear();
  old_stages_.clear();
  old_devices_.clear();
  old_bytes_.clear();
  changed_devices_.clear();
}

void TaskPart::undo() {
  if (!is_touched_) return;
  if (is_replaced_) {
    now_ = before_;
  } else {
    take_back_moves();
  }
  keep();
}

void TaskPart::take_back_moves() {
  std::vector<std::uint16_t>& devices = own_.placement.devices;
  const auto device_at = [&](const OldDevice& old) -> std::uint16_t& {
    return devices[static_cast<std::size_t>(old.place.position)];
  };
  if (uses_other_devices_) {
    for (const OldDevice& old : old_devices_) {
      const std::uint16_t device = device_at(old);
      own_.used[device / 64U] &= ~(1ULL << (device % 64U));
    }
  }
  for (auto old = old_devices_.rbegin(); old != old_devices_.rend(); ++old) device_at(*old) = old->device;
  if (uses_other_devices_) {
    for (const OldDevice& old : old_devices_) {
      const std::uint16_t device = device_at(old);
      own_.used[device / 64U] |= 1ULL << (device % 64U);
    }
  }
  for (const OldReplica& old : old_replicas_) {
    own_.replicas[static_cast<std::size_t>(old.replica)] = old.value;
    own_.replica_sums[static_cast<std::size_t>(old.replica)] = old.sum;
  }
  for (const OldStage& old : old_stages_) {
    own_.reduction_s[static_cast<std::size_t>(old.stage)] = old.reduction_s;
    own_.stage_sums[static_cast<std::size_t>(old.stage)] = old.sum;
  }
  for (auto old = old_bytes_.rbegin(); old != old_bytes_.rend(); ++old) {
    own_.resident_bytes[old->device] = old->resident;
    own_.working_bytes[old->device] = old->working;
  }
  own_.value = old_value_;
}

}  // namespace sextant::inline planner
