#include "planner/explain/parts.h"

#include <algorithm>
#include <cmath>

namespace sextant::inline planner {
namespace {

constexpr const char* kNoTask = "iteration";
constexpr const char* kBetween = "between_tasks";

// Task and term.
using Key = std::pair<std::string, std::string>;

// The task that ends last of those that end by then; of equals the longest. Null where none does.
const std::pair<const std::string, TaskPrediction>* last_until(const Prediction& prediction, double end_s,
                                                               double tolerance_s) {
  const std::pair<const std::string, TaskPrediction>* last = nullptr;
  for (const auto& named : prediction.tasks) {
    const TaskPrediction& task = named.second;
    if (task.end_s > end_s + tolerance_s || task.end_s - task.start_s <= tolerance_s) continue;
    const bool is_later = last == nullptr || task.end_s > last->second.end_s + tolerance_s;
    const bool is_longer = last != nullptr && task.end_s >= last->second.end_s - tolerance_s &&
                           task.start_s < last->second.start_s;
    if (is_later || is_longer) last = &named;
  }
  return last;
}

std::map<Key, double> seconds_of(const Prediction& prediction) {
  std::map<Key, double> seconds;
  double left = prediction.iteration_s;
  for (const std::string& name : critical_tasks(prediction)) {
    const TaskPrediction& task = prediction.tasks.at(name);
    const double share = task.time_s > 0 ? (task.end_s - task.start_s) / task.time_s : 0.0;
    for (const auto& [term, time_s] : task.terms_s) {
      seconds[{name, std::string(name_of(term))}] = time_s * share;
      left -= time_s * share;
    }
  }
  // Only the part of a synchronization that exceeds the tasks in parallel delays the iteration.
  const double sync_s = std::clamp(prediction.weight_sync_s, 0.0, std::max(0.0, left));
  seconds[{kNoTask, "weight_sync"}] = sync_s;
  seconds[{kNoTask, kBetween}] = left - sync_s;
  return seconds;
}

// Without those that are rounding beside the whole.
std::vector<TimePart> sorted(const std::map<Key, double>& seconds, double whole_s) {
  constexpr double kNothing = 1e-12;
  std::vector<TimePart> parts;
  for (const auto& [key, time_s] : seconds) {
    if (std::abs(time_s) > kNothing * whole_s) parts.push_back({key.first, key.second, time_s});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const TimePart& a, const TimePart& b) {
    return std::abs(a.seconds) > std::abs(b.seconds);
  });
  return parts;
}

// The time covered by spans that may overlap, within the iteration.
double covered_s(std::vector<Interval> spans, double iteration_s) {
  std::sort(spans.begin(), spans.end(), [](const Interval& a, const Interval& b) { return a.low < b.low; });
  double covered = 0, until = 0;
  for (const Interval& span : spans) {
    const double end = std::min(span.high, iteration_s);
    covered += std::max(0.0, end - std::max(until, span.low));
    until = std::max(until, end);
  }
  return covered;
}

}  // namespace

std::vector<std::string> critical_tasks(const Prediction& prediction) {
  constexpr double kRounding = 1e-9;
  const double tolerance_s = kRounding * prediction.iteration_s;
  std::vector<std::string> path;
  double end_s = prediction.iteration_s;
  while (const auto* task = last_until(prediction, end_s, tolerance_s)) {
    path.push_back(task->first);
    end_s = task->second.start_s;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<TimePart> parts_of(const Prediction& prediction) {
  return sorted(seconds_of(prediction), prediction.iteration_s);
}

std::vector<TimePart> differences_of(const Prediction& other, const Prediction& mine) {
  std::map<Key, double> seconds = seconds_of(other);
  for (const auto& [key, time_s] : seconds_of(mine)) seconds[key] -= time_s;
  return sorted(seconds, mine.iteration_s);
}

std::vector<DeviceUse> uses_of(const Cluster& cluster, const Prediction& prediction) {
  std::vector<std::vector<Interval>> spans(static_cast<std::size_t>(cluster.device_count()));
  for (const auto& [name, task] : prediction.tasks) {
    for (const DeviceId device : task.devices) spans[device.index()].push_back({task.start_s, task.end_s});
  }
  std::map<std::string, DeviceUse> uses;
  for (std::size_t d = 0; d < spans.size(); ++d) {
    const std::string& type = cluster.type_name(DeviceId{static_cast<int>(d)});
    DeviceUse& use = uses.try_emplace(type, DeviceUse{type, 0, 0, 0}).first->second;
    ++use.devices;
    if (!spans[d].empty()) ++use.used;
    use.idle_fraction += 1 - covered_s(spans[d], prediction.iteration_s) / prediction.iteration_s;
  }
  std::vector<DeviceUse> by_type;
  for (auto& [type, use] : uses) {
    use.idle_fraction = std::clamp(use.idle_fraction / use.devices, 0.0, 1.0);
    by_type.push_back(use);
  }
  return by_type;
}

std::map<std::string, std::string> layouts_of(const Plan& plan) {
  std::map<std::string, std::string> layouts;
  for (const auto& [name, task] : plan.tasks) layouts[name] = describe(task);
  return layouts;
}

}  // namespace sextant::inline planner
