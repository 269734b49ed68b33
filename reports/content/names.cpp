#include "reports/content/names.h"

#include <algorithm>

#include "calibrate/accuracy.h"
#include "core/units.h"

namespace sextant::inline reports {

std::string shown_name(std::string_view identifier) {
  std::string shown(identifier);
  std::replace(shown.begin(), shown.end(), '_', ' ');
  return shown;
}

std::string shown_name(Source source) {
  switch (source) {
    case Source::measured:
      return "measured";
    case Source::datasheet:
      return "datasheet";
    case Source::assumed:
      return "assumed";
  }
  return "";
}

std::string shown_name(LinkLevel level) {
  switch (level) {
    case LinkLevel::within_node:
      return "within a node";
    case LinkLevel::within_zone:
      return "between nodes of a zone";
    case LinkLevel::within_region:
      return "between zones of a region";
    case LinkLevel::between_regions:
      return "between regions";
  }
  return "";
}

std::string shown_name(LinkScope scope) {
  switch (scope) {
    case LinkScope::device:
      return "devices";
    case LinkScope::node:
      return "nodes";
    case LinkScope::zone:
      return "zones";
    case LinkScope::region:
      return "regions";
  }
  return "";
}

std::string shown_name(RunSource source) {
  switch (source) {
    case RunSource::proxy:
      return "proxy";
    case RunSource::trace:
      return "trace";
    case RunSource::import:
      return "import";
    case RunSource::published:
      return "published";
  }
  return "";
}

std::vector<std::string> in_task_order(const std::set<std::string>& tasks) {
  const std::vector<std::string> first = {task_names::kActorGeneration, task_names::kRewardInference,
                                          task_names::kOldLogProb,      task_names::kReferenceInference,
                                          task_names::kCriticInference, task_names::kActorTraining,
                                          task_names::kCriticTraining};
  const auto rank = [&](const std::string& task) {
    if (task == kIteration) return first.size() + 2;
    if (task == kWeightSync) return first.size() + 1;
    return static_cast<std::size_t>(std::find(first.begin(), first.end(), task) - first.begin());
  };
  std::vector<std::string> ordered(tasks.begin(), tasks.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return ordered;
}

std::string number_ranges(const std::vector<int>& numbers) {
  const std::set<int> sorted(numbers.begin(), numbers.end());
  std::string ranges;
  for (auto first = sorted.begin(); first != sorted.end();) {
    auto last = first;
    for (auto next = std::next(last); next != sorted.end() && *next == *last + 1; ++next) last = next;
    if (!ranges.empty()) ranges += ", ";
    ranges += std::to_string(*first);
    if (last != first) ranges += "-" + std::to_string(*last);
    first = std::next(last);
  }
  return ranges;
}

std::string device_ranges(const std::vector<DeviceId>& devices) {
  std::vector<int> numbers;
  numbers.reserve(devices.size());
  for (const DeviceId device : devices) numbers.push_back(device.value);
  return number_ranges(numbers);
}

std::string device_label(DeviceId device, const Cluster* cluster) {
  if (cluster != nullptr && cluster->contains(device)) return cluster->device_name(device);
  return "device " + std::to_string(device.value);
}

std::string as_sentence(std::string message) {
  constexpr std::string_view kLowerCase = "abcdefghijklmnopqrstuvwxyz";
  if (message.empty()) return message;
  const std::size_t word_end = message.find_first_not_of(kLowerCase);
  const bool is_word = word_end == std::string::npos || message[word_end] == ' ' || message[word_end] == ',';
  if (word_end > 0 && is_word) message[0] = static_cast<char>(message[0] - 'a' + 'A');
  if (std::string_view(".!?").find(message.back()) == std::string_view::npos) message += '.';
  return message;
}

std::string shown_interval(const Interval& interval_s) {
  return format_seconds(interval_s.low) + " to " + format_seconds(interval_s.high);
}

std::string shown_list(const std::vector<std::string>& names, std::size_t maximum) {
  std::string shown;
  for (std::size_t i = 0; i < std::min(names.size(), maximum); ++i) shown += (i > 0 ? ", " : "") + names[i];
  if (names.size() > maximum) shown += " and " + std::to_string(names.size() - maximum) + " more";
  return shown;
}

std::string row_label(const std::vector<DeviceId>& devices, const Cluster* cluster) {
  if (devices.size() == 1) return device_label(devices.front(), cluster);
  return "devices " + device_ranges(devices);
}

}  // namespace sextant::inline reports
