#include "costmodel/iteration.h"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

bool share_a_device(const std::set<DeviceId>& a, const std::set<DeviceId>& b) {
  return std::any_of(a.begin(), a.end(), [&](DeviceId device) { return b.contains(device); });
}

}  // namespace

std::vector<std::vector<int>> groups_by_device(const std::vector<const std::set<DeviceId>*>& devices) {
  std::vector<int> group(devices.size());
  std::iota(group.begin(), group.end(), 0);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (group[i] == group[j] || !share_a_device(*devices[i], *devices[j])) continue;
      const int merged = std::min(group[i], group[j]), gone = std::max(group[i], group[j]);
      std::replace(group.begin(), group.end(), gone, merged);
    }
  }
  std::vector<std::vector<int>> groups;
  for (std::size_t root = 0; root < devices.size(); ++root) {
    std::vector<int> members;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (group[i] == static_cast<int>(root)) members.push_back(static_cast<int>(i));
    }
    if (!members.empty()) groups.push_back(std::move(members));
  }
  return groups;
}

bool generation_overlaps(Mode mode, const std::set<DeviceId>& generation,
                         const std::vector<const std::set<DeviceId>*>& others) {
  if (mode == Mode::synchronous) return false;
  return std::none_of(others.begin(), others.end(),
                      [&](const std::set<DeviceId>* other) { return share_a_device(generation, *other); });
}

}  // namespace sextant
