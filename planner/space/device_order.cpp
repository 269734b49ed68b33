#include "planner/space/device_order.h"

#include <algorithm>

namespace sextant::inline planner {

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

namespace {

// Zero for a single device.
double inner_bytes_per_s(NodeId node, DeviceId device, const Cluster& cluster) {
  for (const DeviceId other : {DeviceId{device.value - 1}, DeviceId{device.value + 1}}) {
    const bool is_there = other.value >= 0 && other.value < cluster.device_count();
    if (is_there && cluster.node_of(other) == node) return cluster.link(device, other).bytes_per_s.value;
  }
  return 0;
}

}  // namespace

bool stages_are_near(const std::vector<std::uint16_t>& devices, int tensor_parallel, const Cluster& cluster) {
  constexpr double kSlow = 0.1;
  for (std::size_t at = 1; at < devices.size(); ++at) {
    if (at % static_cast<std::size_t>(tensor_parallel) == 0) continue;  // the next stage begins
    const DeviceId from{devices[at - 1]}, to{devices[at]};
    const NodeId from_node = cluster.node_of(from), to_node = cluster.node_of(to);
    if (from_node == to_node) continue;
    const double inner =
        std::max(inner_bytes_per_s(from_node, from, cluster), inner_bytes_per_s(to_node, to, cluster));
    if (cluster.link(from, to).bytes_per_s.value < kSlow * inner) return false;
  }
  return true;
}

}  // namespace sextant::inline planner
