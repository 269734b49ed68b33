#include "planner/evaluate/memory_use.h"

#include <algorithm>

namespace sextant {

MemoryUse::MemoryUse(std::size_t tasks, std::vector<double> room_bytes)
    : tasks_(tasks),
      devices_(room_bytes.size()),
      room_(std::move(room_bytes)),
      resident_(tasks * devices_),
      working_(tasks * devices_),
      excess_(devices_),
      sum_(devices_),
      most_(devices_) {}

void MemoryUse::clear() {
  std::fill(resident_.begin(), resident_.end(), 0.0);
  std::fill(working_.begin(), working_.end(), 0.0);
}

double MemoryUse::excess_bytes_of_all() {
  for (std::size_t d = 0; d < devices_; ++d) sum_[d] = resident_[d];
  for (std::size_t d = 0; d < devices_; ++d) most_[d] = working_[d];
  for (std::size_t t = 1; t < tasks_; ++t) {
    const double* resident = &resident_[t * devices_];
    const double* working = &working_[t * devices_];
    for (std::size_t d = 0; d < devices_; ++d) sum_[d] += resident[d];
    for (std::size_t d = 0; d < devices_; ++d) most_[d] = most_[d] < working[d] ? working[d] : most_[d];
  }
  largest_ = 0;
  for (std::size_t d = 0; d < devices_; ++d) {
    excess_[d] = sum_[d] + most_[d] - room_[d];
    largest_ = std::max(largest_, excess_[d]);
  }
  return largest_;
}

// In the order of excess_bytes_of_all, so that both give the same number.
double MemoryUse::excess_of(std::size_t device) const {
  double resident = resident_[device], working = working_[device];
  for (std::size_t t = 1; t < tasks_; ++t) {
    resident += resident_[t * devices_ + device];
    working = std::max(working, working_[t * devices_ + device]);
  }
  return resident + working - room_[device];
}

void MemoryUse::set(std::size_t task, std::uint16_t device, double resident_bytes, double working_bytes) {
  const std::size_t at = task * devices_ + device;
  if (resident_[at] == resident_bytes && working_[at] == working_bytes) return;
  changes_.push_back({at, resident_[at], working_[at]});
  changed_devices_.push_back(device);
  resident_[at] = resident_bytes;
  working_[at] = working_bytes;
}

double MemoryUse::excess_bytes() {
  if (changed_devices_.empty()) return largest_;
  if (old_excesses_.empty()) old_largest_ = largest_;
  for (const std::uint16_t device : changed_devices_) {
    old_excesses_.push_back({device, excess_[device]});
    excess_[device] = excess_of(device);
  }
  changed_devices_.clear();
  double largest = 0;
  for (const double excess : excess_) largest = largest < excess ? excess : largest;
  return largest_ = largest;
}

void MemoryUse::keep() {
  changes_.clear();
  old_excesses_.clear();
}

void MemoryUse::undo() {
  if (!old_excesses_.empty()) largest_ = old_largest_;
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    resident_[change->at] = change->resident_bytes;
    working_[change->at] = change->working_bytes;
  }
  for (auto old = old_excesses_.rbegin(); old != old_excesses_.rend(); ++old) excess_[old->device] = old->bytes;
  changed_devices_.clear();
  keep();
}

}  // namespace sextant
