// The memory of all tasklets of a plan on devices and hosts, and the check that it fits (C3).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "planner/verify/planned_task.h"
#include "planner/verify/violation.h"
#include "sextant/coefficients.h"
#include "sextant/prediction.h"

namespace sextant::inline planner {

// For every device that a task uses, ascending: the states of all its tasklets, and the maximum working set of
// one. The coefficients memory_state_weight, memory_activation_weight, memory_logit_weight and
// memory_context_bytes (once per device) are those of the device's type. Tasks must satisfy all other rules.
[[nodiscard]] std::vector<DeviceMemory> used_devices(std::span<const PlannedTask> tasks,
                                                     const Coefficients& coefficients,
                                                     std::string_view framework);

// For every node with task states on its host, ascending.
[[nodiscard]] std::vector<HostMemory> used_hosts(std::span<const PlannedTask> tasks);

[[nodiscard]] std::vector<Violation> device_violations(std::span<const DeviceMemory> devices,
                                                       const Cluster& cluster);
[[nodiscard]] std::vector<Violation> host_violations(std::span<const HostMemory> hosts);

}  // namespace sextant::inline planner
