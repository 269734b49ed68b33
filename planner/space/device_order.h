// In which order a task's positions take the devices of a group.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/request/candidate.h"
#include "sextant/cluster.h"

namespace sextant {

enum class DeviceOrder { by_replica, by_stage };

// Where the devices of a group go.
[[nodiscard]] Placement placed(const Shape& shape, int position, DeviceOrder order,
                               const std::vector<std::uint16_t>& devices);

// Whether stages of so many devices, one after the other as every order takes them, keep to machines, or cross
// links that are no slower than a tenth of the machines' own (of GPUs one by one in their machines any link
// is).
[[nodiscard]] bool stages_are_near(const std::vector<std::uint16_t>& devices, int tensor_parallel,
                                   const Cluster& cluster);

}  // namespace sextant
