// The order in which a task's positions take the devices of a group.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/request/candidate.h"
#include "sextant/cluster.h"

namespace sextant::inline planner {

enum class DeviceOrder { by_replica, by_stage };

// The placement of a shape on the devices of a group.
[[nodiscard]] Placement placed(const Shape& shape, int position, DeviceOrder order,
                               const std::vector<std::uint16_t>& devices);

// True if consecutive stages of `tensor_parallel` devices, as in every order, stay inside machines, or
// cross links that are at least a tenth as fast as the machines' own (any link for single-GPU
// machines).
[[nodiscard]] bool stages_are_near(const std::vector<std::uint16_t>& devices, int tensor_parallel,
                                   const Cluster& cluster);

}  // namespace sextant::inline planner
