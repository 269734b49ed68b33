// Moves of one task's tasklets, and the way back.
#include <algorithm>

#include "planner/evaluate/task_part.h"

namespace sextant {

void TaskPart::touch() {
  if (is_touched_) return;
  is_touched_ = true;
  if (now_ != &own_) own_ = *now_;
  now_ = &own_;
  old_reduction_s_ = own_.reduction_s;
  old_value_ = own_.value;
}

void TaskPart::mark(int position) {
  touch();
  old_devices_.push_back({position, own_.placement.devices[static_cast<std::size_t>(position)]});
  const int replica = is_separable_ ? position / shape().replica_devices() : 0;
  if (std::find(changed_replicas_.begin(), changed_replicas_.end(), replica) == changed_replicas_.end()) {
    changed_replicas_.push_back(replica);
    old_replicas_.push_back(own_.replicas[static_cast<std::size_t>(replica)]);
  }
}

void TaskPart::set_device(int position, std::uint16_t device) {
  own_.placement.devices[static_cast<std::size_t>(position)] = device;
  own_.seats[static_cast<std::size_t>(position)] = seating_->seat_of[device];
}

void TaskPart::replace_device(int position, std::uint16_t device) {
  mark(position);
  uses_other_devices_ = true;
  const std::uint16_t old = own_.placement.devices[static_cast<std::size_t>(position)];
  own_.used[old / 64U] &= ~(1ULL << (old % 64U));
  own_.used[device / 64U] |= 1ULL << (device % 64U);
  set_device(position, device);
}

void TaskPart::swap_positions(int first, int second) {
  mark(first);
  mark(second);
  const std::uint16_t device = own_.placement.devices[static_cast<std::size_t>(first)];
  set_device(first, own_.placement.devices[static_cast<std::size_t>(second)]);
  set_device(second, device);
}

void TaskPart::replace(const Placement& placement) {
  if (!is_replaced_) {
    undo();  // of changes before it, which it makes moot
    before_ = now_;
    is_touched_ = is_replaced_ = uses_other_devices_ = true;
  }
  load(placement);
}

void TaskPart::refresh_stages() {
  if (!has_reductions(shape())) return;
  if (!is_separable_) return look_up_stage(0, own_);
  int last = -1;
  for (const OldDevice& old : old_devices_) {
    const int stage = old.position % shape().replica_devices() / shape().tensor_parallel;
    if (stage != last) look_up_stage(stage, own_);
    last = stage;
  }
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

void TaskPart::refresh_bytes() {
  for (const OldDevice& old : old_devices_) {
    if ((own_.used[old.device / 64U] >> (old.device % 64U) & 1U) == 0) set_bytes(old.device, 0, 0);
  }
  for (const int changed : changed_replicas_) {
    const ReplicaValue& replica = *own_.replicas[static_cast<std::size_t>(changed)];
    const std::size_t size = replica.resident_bytes.size();
    const std::uint16_t* devices = &own_.placement.devices[static_cast<std::size_t>(changed) * size];
    for (std::size_t p = 0; p < size; ++p)
      set_bytes(devices[p], replica.resident_bytes[p], replica.working_bytes[p]);
  }
}

void TaskPart::refresh() {
  if (!is_touched_ || is_replaced_) return;
  for (const int replica : changed_replicas_) look_up_replica(replica);
  refresh_stages();
  sum_up(own_);
  refresh_bytes();
}

void TaskPart::keep() {
  is_touched_ = is_replaced_ = uses_other_devices_ = false;
  before_ = nullptr;
  changed_replicas_.clear();
  old_replicas_.clear();
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
  for (const OldDevice& old : old_devices_) {
    const std::uint16_t device = own_.placement.devices[static_cast<std::size_t>(old.position)];
    own_.used[device / 64U] &= ~(1ULL << (device % 64U));
  }
  for (auto old = old_devices_.rbegin(); old != old_devices_.rend(); ++old)
    set_device(old->position, old->device);
  for (const OldDevice& old : old_devices_) {
    const std::uint16_t device = own_.placement.devices[static_cast<std::size_t>(old.position)];
    own_.used[device / 64U] |= 1ULL << (device % 64U);
  }
  for (std::size_t c = 0; c < changed_replicas_.size(); ++c) {
    own_.replicas[static_cast<std::size_t>(changed_replicas_[c])] = old_replicas_[c];
  }
  for (auto old = old_bytes_.rbegin(); old != old_bytes_.rend(); ++old) {
    own_.resident_bytes[old->device] = old->resident;
    own_.working_bytes[old->device] = old->working;
  }
  std::swap(own_.reduction_s, old_reduction_s_);
  own_.value = old_value_;
}

}  // namespace sextant
