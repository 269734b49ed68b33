#include "planner/space/options.h"

#include <algorithm>

namespace sextant {
namespace {

bool beats(const Option& a, const Option& b) {
  return a.value.time_s <= b.value.time_s && a.value.most_resident_bytes <= b.value.most_resident_bytes &&
         a.value.most_working_bytes <= b.value.most_working_bytes;
}

// Sorted by time: an option can only be beaten by one before it.
std::vector<Option> unbeaten(std::vector<Option> options) {
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.value.time_s < b.value.time_s; });
  std::vector<Option> kept;
  for (const Option& option : options) {
    const bool beaten =
        std::any_of(kept.begin(), kept.end(), [&](const Option& other) { return beats(other, option); });
    if (!beaten) kept.push_back(option);
  }
  return kept;
}

// Task, then the places of the devices with nodes, zones and regions numbered as they first appear; the devices
// themselves where links tell them apart.
std::vector<int> places_of(int task, const std::vector<std::uint16_t>& devices, const Cluster& cluster) {
  std::vector<int> places{task};
  std::map<int, int> nodes, zones, regions;
  const auto number = [](std::map<int, int>& numbers, int key) {
    return numbers.emplace(key, static_cast<int>(numbers.size())).first->second;
  };
  NodeId last{-1};
  for (const std::uint16_t device : devices) {
    if (!cluster.has_uniform_links()) {
      places.push_back(device);
      continue;
    }
    const NodeId node = cluster.node_of(DeviceId{device});
    if (node == last) {
      ++places.back();
      continue;
    }
    last = node;
    places.insert(places.end(),
                  {cluster.node_class(node), number(nodes, node.value),
                   number(zones, cluster.zone_number(node)), number(regions, cluster.region_number(node)), 1});
  }
  return places;
}

}  // namespace

Placement placed(const Shape& shape, int position, DeviceOrder order,
                 const std::vector<std::uint16_t>& devices) {
  Placement placement{position, devices};
  if (order == DeviceOrder::by_replica) return placement;
  const auto dp = static_cast<std::size_t>(shape.data_parallel());
  const auto pp = static_cast<std::size_t>(shape.pipeline_parallel());
  const auto tp = static_cast<std::size_t>(shape.tensor_parallel);
  for (std::size_t i = 0; i < dp; ++i) {
    for (std::size_t j = 0; j < pp; ++j) {
      for (std::size_t k = 0; k < tp; ++k) {
        placement.devices[(i * pp + j) * tp + k] = devices[(j * dp + i) * tp + k];
      }
    }
  }
  return placement;
}

const std::vector<int>& OptionTable::shapes_for(int task, int devices) {
  const auto [entry, is_new] = shapes_.try_emplace({task, devices});
  if (is_new) {
    const Task& of = workflow_.tasks[static_cast<std::size_t>(task)];
    for (const Shape& shape : shapes_of(of, workflow_, devices, limits_))
      entry->second.push_back(evaluator_.shapes(task).add(shape));
  }
  return entry->second;
}

std::vector<Option> OptionTable::look(int task, const std::vector<std::uint16_t>& devices) {
  std::vector<Option> options;
  for (const int position : shapes_for(task, static_cast<int>(devices.size()))) {
    const Shape& shape = evaluator_.shapes(task).at(position);
    for (const DeviceOrder order : {DeviceOrder::by_replica, DeviceOrder::by_stage}) {
      const bool is_other = shape.pipeline_parallel() > 1 && shape.data_parallel() > 1;
      if (order == DeviceOrder::by_stage && !is_other) continue;
      options.push_back({position, order, evaluator_.value_of(task, placed(shape, position, order, devices))});
    }
  }
  return unbeaten(std::move(options));
}

const std::vector<Option>& OptionTable::of(int task, const std::vector<std::uint16_t>& devices) {
  const auto [entry, is_new] = known_.try_emplace(places_of(task, devices, cluster_));
  if (is_new) entry->second = look(task, devices);
  return entry->second;
}

}  // namespace sextant
