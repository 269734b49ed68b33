// Formats names, devices and intervals for reports.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/ids.h"
#include "sextant/quantity.h"
#include "sextant/run.h"
#include "sextant/statistics.h"

namespace sextant::inline reports {

// "actor_generation" -> "actor generation"
[[nodiscard]] std::string shown_name(std::string_view identifier);
[[nodiscard]] std::string shown_name(Source source);
[[nodiscard]] std::string shown_name(LinkLevel level);
[[nodiscard]] std::string shown_name(LinkScope scope);
[[nodiscard]] std::string shown_name(RunSource source);

// The order of a PPO iteration, then other names by alphabet, weight_sync and iteration last.
[[nodiscard]] std::vector<std::string> in_task_order(const std::set<std::string>& tasks);

// The keys of a map by task, in that order.
template <typename Value>
[[nodiscard]] std::vector<std::string> tasks_of(const std::map<std::string, Value>& by_task) {
  std::set<std::string> tasks;
  for (const auto& [task, value] : by_task) tasks.insert(task);
  return in_task_order(tasks);
}

// "0-3, 8"
[[nodiscard]] std::string number_ranges(const std::vector<int>& numbers);
[[nodiscard]] std::string device_ranges(const std::vector<DeviceId>& devices);

// The cluster's name of the device, or "device 3" without a cluster that has it.
[[nodiscard]] std::string device_label(DeviceId device, const Cluster* cluster);

// A message as a sentence: with a capital, unless it begins with a name such as actor_training, and a full stop.
[[nodiscard]] std::string as_sentence(std::string message);

// "1.20 s to 1.40 s"
[[nodiscard]] std::string shown_interval(const Interval& interval_s);

// Up to `most` names, then how many more.
[[nodiscard]] std::string shown_list(const std::vector<std::string>& names, std::size_t maximum = 5);

// Devices with equal keys share a row when there are too many for a row each.
inline constexpr std::size_t kMaxDeviceRows = 32;

template <typename Key>
[[nodiscard]] std::vector<std::pair<std::vector<DeviceId>, Key>> device_rows(
    const std::map<DeviceId, Key>& keys) {
  std::vector<std::pair<std::vector<DeviceId>, Key>> rows;
  for (const auto& [device, key] : keys) {
    auto row = rows.end();
    if (keys.size() > kMaxDeviceRows) {
      for (row = rows.begin(); row != rows.end() && !(row->second == key); ++row) {
      }
    }
    if (row == rows.end()) row = rows.insert(rows.end(), {{}, key});
    row->first.push_back(device);
  }
  return rows;
}

[[nodiscard]] std::string row_label(const std::vector<DeviceId>& devices, const Cluster* cluster);

}  // namespace sextant::inline reports
