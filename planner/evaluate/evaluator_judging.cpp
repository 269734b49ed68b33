// Checks whether a candidate fits in memory, and computes its score under the objective.
#include <algorithm>
#include <utility>
#include <vector>

#include "planner/evaluate/evaluator.h"

namespace sextant::inline planner {

// ---- memory ----

// anew: for a candidate that was just loaded.
double Evaluator::excess_bytes(bool anew) {
  double resident = 0, working = 0;
  for (const TaskBytes& task : bytes_) {
    resident += task.max_resident;
    working = std::max(working, task.max_working);
  }
  if (resident + working <= min_room_bytes_) {
    anew ? memory_->skip_candidate() : memory_->skip_move();
    return 0;
  }
  if (anew) return memory_->of_candidate(bytes_);
  if (!memory_->is_known()) return memory_->of_move(bytes_);
  changed_devices_.clear();
  for (const std::size_t t : changed_tasks_) {
    if (parts_[t].is_replaced()) return memory_->of_move(bytes_);
    const std::span<const std::uint16_t> changed = parts_[t].changed_devices();
    changed_devices_.insert(changed_devices_.end(), changed.begin(), changed.end());
  }
  return changed_devices_.empty() ? memory_->of_same() : memory_->of_move(bytes_, changed_devices_);
}

// ---- the objective ----

Score judged(const Objective& objective, double time_s, double excess_bytes, const Rented& rented) {
  return {time_s, excess_bytes, loss_of(objective, time_s, rented), overrun_of(objective, time_s, rented)};
}

HostMemoryLimit::HostMemoryLimit(const Cluster& cluster, TaskPairs one_copy) : one_copy_(std::move(one_copy)) {
  for (const Node& node : cluster.nodes()) {
    if (!node.host_memory_bytes) continue;
    const double each = *node.host_memory_bytes / node.devices;
    bytes_per_device_ = bytes_per_device_ > 0 ? std::min(bytes_per_device_, each) : each;
  }
}

double Evaluator::broken_rules() const {
  double broken = 0;
  if (host_memory_.is_there()) {
    std::vector<const TaskValue*> values;
    values.reserve(parts_.size());
    for (const TaskPart& part : parts_) values.push_back(&part.value());
    broken = host_memory_.overrun(values);
  }
  const auto is_same = [this](std::size_t task, std::size_t other) {
    const auto some = parts_[task].used(), others = parts_[other].used();
    return std::equal(some.begin(), some.end(), others.begin(), others.end());
  };
  const auto overlap = [this](std::size_t task, std::size_t other) {
    return overlap_[task * parts_.size() + other] != 0;
  };
  return broken + device_rules_.broken(is_same, overlap);
}

Score Evaluator::judged(double time_s, double excess_bytes) const {
  if (is_time_alone_) return {time_s, excess_bytes, time_s, 0};
  if (!objective_.needs_devices()) {
    Score score = sextant::judged(objective_, time_s, excess_bytes, {});
    score.overrun += broken_rules();
    return score;
  }
  const Rented rented = prices_.rented(seating_.used_words, [this](std::size_t word) {
    std::uint64_t used = 0;
    for (const TaskPart& part : parts_) used |= part.used()[word];
    return used;
  });
  Score score = sextant::judged(objective_, time_s, excess_bytes, rented);
  score.overrun += broken_rules();
  return score;
}

}  // namespace sextant::inline planner
