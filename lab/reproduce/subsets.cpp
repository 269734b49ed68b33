#include "lab/reproduce/subsets.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace sextant::inline lab {
namespace {

struct Tried {
  std::set<DeviceId> left_out;
  double iteration_s = std::numeric_limits<double>::infinity();
};

class PartSearch {
 public:
  PartSearch(const Cluster& cluster, const TimeOnPart& time_on) : cluster_(cluster), time_on_(time_on) {}

  [[nodiscard]] Tried best() {
    try_sets_of_types();
    while (leave_one_more_out()) {
    }
    return best_;
  }

 private:
  [[nodiscard]] bool is_better(const std::set<DeviceId>& left_out) {
    if (static_cast<int>(left_out.size()) == cluster_.device_count() || !tried_.insert(left_out).second)
      return false;
    const std::optional<double> iteration_s = time_on_(without(cluster_, left_out));
    if (!iteration_s || *iteration_s >= best_.iteration_s) return false;
    best_ = {left_out, *iteration_s};
    return true;
  }

  // Devices of nodes for which `is_out` holds, and those that are out already.
  template <typename IsOut>
  [[nodiscard]] std::set<DeviceId> with_nodes_out(std::set<DeviceId> left_out, IsOut is_out) const {
    int device = 0;
    for (const Node& node : cluster_.nodes()) {
      for (int i = 0; i < node.devices; ++i, ++device) {
        if (is_out(node)) left_out.insert(DeviceId{device});
      }
    }
    return left_out;
  }

  // All of them first.
  void try_sets_of_types() {
    std::vector<std::string> types;
    for (const auto& [name, type] : cluster_.device_types()) types.push_back(name);
    for (unsigned out = 0; out + 1 < 1U << types.size(); ++out) {
      (void)is_better(with_nodes_out({}, [&](const Node& node) {
        const auto at = std::find(types.begin(), types.end(), node.device_type) - types.begin();
        return (out >> at & 1U) != 0;
      }));
    }
  }

  [[nodiscard]] bool leave_one_more_out() {
    const std::set<DeviceId> before = best_.left_out;
    std::set<std::string> regions;
    std::set<std::tuple<std::string, std::string, std::string>> kinds;  // type, region, zone
    bool is_any_better = false;
    for (const Node& node : cluster_.nodes()) {
      if (regions.insert(node.region).second) {
        is_any_better =
            is_better(with_nodes_out(before, [&](const Node& other) { return other.region == node.region; })) ||
            is_any_better;
      }
      const std::set<DeviceId> without_node =
          with_nodes_out(before, [&](const Node& other) { return other.name == node.name; });
      if (without_node == before || !kinds.emplace(node.device_type, node.region, node.zone).second) continue;
      is_any_better = is_better(without_node) || is_any_better;
    }
    return is_any_better;
  }

  const Cluster& cluster_;
  const TimeOnPart& time_on_;
  std::set<std::set<DeviceId>> tried_;
  Tried best_;
};

}  // namespace

Subcluster best_part(const Cluster& cluster, const TimeOnPart& time_on) {
  return without(cluster, PartSearch(cluster, time_on).best().left_out);
}

}  // namespace sextant::inline lab
