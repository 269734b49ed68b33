// Devices that an operator would leave out: a slow type, a far region, a machine that delays the others.
#pragma once

#include <functional>
#include <optional>

#include "planner/request/subcluster.h"

namespace sextant::inline lab {

// The iteration time that a planner reaches on a part of a cluster; nullopt if no plan fits.
using TimeOnPart = std::function<std::optional<double>(const Subcluster& part)>;

// Returns the fastest part that was tried, the whole cluster if no plan fits anywhere. It tries every set of
// device types, and from the best of them on, as long as it shortens the iteration, the part without one more
// region or machine. Of equal machines in one zone only one is tried.
[[nodiscard]] Subcluster best_part(const Cluster& cluster, const TimeOnPart& time_on);

}  // namespace sextant::inline lab
