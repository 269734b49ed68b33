// In which order a task's positions take the devices of a group.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/evaluate/candidate.h"

namespace sextant {

enum class DeviceOrder { by_replica, by_stage };

// Where the devices of a group go.
[[nodiscard]] Placement placed(const Shape& shape, int position, DeviceOrder order,
                               const std::vector<std::uint16_t>& devices);

}  // namespace sextant
