#include "planner/evaluate/memory_use.h"

#include <algorithm>

namespace sextant::inline planner {

MemoryUse::MemoryUse(std::vector<double> free_memory_bytes)
    : room_(std::move(free_memory_bytes)),
      excess_(room_.size()),
      tried_(room_.size()),
      maximum_(room_.size()) {}

namespace {

double largest_of(const std::vector<double>& excess) {
  double largest = 0;
  for (const double bytes : excess) largest = largest < bytes ? bytes : largest;
  return largest;
}

}  // namespace

double MemoryUse::find_all(Tasks tasks, std::vector<double>& excess) {
  const std::size_t devices = room_.size();
  std::copy_n(tasks.front().resident, devices, excess.begin());
  std::copy_n(tasks.front().working, devices, maximum_.begin());
  for (const TaskBytes& task : tasks.subspan(1)) {
    for (std::size_t d = 0; d < devices; ++d) excess[d] += task.resident[d];
    for (std::size_t d = 0; d < devices; ++d)
      maximum_[d] = maximum_[d] < task.working[d] ? task.working[d] : maximum_[d];
  }
  for (std::size_t d = 0; d < devices; ++d) excess[d] = excess[d] + maximum_[d] - room_[d];
  return largest_of(excess);
}

// Summed in the order of find_all, so that both give the same number.
double MemoryUse::excess_of(Tasks tasks, std::size_t device) const {
  double resident = tasks.front().resident[device], working = tasks.front().working[device];
  for (const TaskBytes& task : tasks.subspan(1)) {
    resident += task.resident[device];
    working = std::max(working, task.working[device]);
  }
  return resident + working - room_[device];
}

double MemoryUse::of_candidate(Tasks tasks) {
  is_known_ = true;
  return largest_ = find_all(tasks, excess_);
}

double MemoryUse::of_move(Tasks tasks, std::span<const std::uint16_t> devices) {
  if (old_.empty()) old_largest_ = largest_;
  last_ = Last::some;
  // A full scan is needed only if the fullest device lost bytes and no changed device is as full.
  double largest = 0;
  bool has_lost = false;
  for (const std::uint16_t device : devices) {
    const double before = excess_[device], bytes = excess_of(tasks, device);
    old_.push_back({device, before});
    excess_[device] = bytes;
    largest = std::max(largest, bytes);
    has_lost = has_lost || before >= largest_;
  }
  if (largest < largest_) largest = has_lost ? largest_of(excess_) : largest_;
  return largest_ = largest;
}

double MemoryUse::of_move(Tasks tasks) {
  last_ = Last::all;
  return tried_largest_ = find_all(tasks, tried_);
}

void MemoryUse::keep() {
  if (last_ == Last::skipped) is_known_ = false;
  if (last_ == Last::all) {
    std::swap(excess_, tried_);
    largest_ = tried_largest_;
    is_known_ = true;
  }
  last_ = Last::none;
  old_.clear();
}

void MemoryUse::undo() {
  for (auto old = old_.rbegin(); old != old_.rend(); ++old) excess_[old->device] = old->bytes;
  if (!old_.empty()) largest_ = old_largest_;
  last_ = Last::none;
  old_.clear();
}

}  // namespace sextant::inline planner
