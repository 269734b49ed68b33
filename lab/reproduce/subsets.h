// Devices that an operator would leave out: a slow type, a far region, a machine that the others wait for.
#pragma once

#include <functional>
#include <optional>

#include "planner/request/subcluster.h"

namespace sextant {

// The time of an iteration that a planner reaches on a part of a cluster; nothing where no plan fits.
using TimeOnPart = std::function<std::optional<double>(const Subcluster& part)>;

// The fastest part that was tried, the whole cluster where nothing fits anywhere. Tried are every set of device
// types, and from the best of them on, as long as it shortens the iteration, the part without one more
// region or machine. Of machines of one type in one zone one is tried.
[[nodiscard]] Subcluster best_part(const Cluster& cluster, const TimeOnPart& time_on);

}  // namespace sextant
