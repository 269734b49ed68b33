// What all tasklets of a plan take of devices and hosts, and whether it fits (C3).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "planner/verify/planned_task.h"
#include "planner/verify/violation.h"
#include "sextant/coefficients.h"
#include "sextant/prediction.h"

namespace sextant {

// Of every device that a task uses, ascending: the states of all its tasklets, and the largest working set of
// one. The coefficients memory_state_weight, memory_activation_weight, memory_logit_weight and
// memory_context_bytes (once a device) are those of the device's type. Tasks must keep all other rules.
[[nodiscard]] std::vector<DeviceMemory> used_devices(std::span<const PlannedTask> tasks,
                                                     const Coefficients& coefficients,
                                                     std::string_view framework);

// Of every node on whose host a task keeps states, ascending.
[[nodiscard]] std::vector<HostMemory> used_hosts(std::span<const PlannedTask> tasks);

[[nodiscard]] std::vector<Violation> device_violations(std::span<const DeviceMemory> devices,
                                                       const Cluster& cluster);
[[nodiscard]] std::vector<Violation> host_violations(std::span<const HostMemory> hosts);

}  // namespace sextant
