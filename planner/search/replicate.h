// A plan of a part of the cluster, repeated on the devices that it leaves idle.
//
// A short search may find a plan on a part of the cluster alone, because few layouts fit if memory is short. The replicas
// of each task are repeated on the other machines of the same kind, and each gets as much less of the batch: they fit as
// well, and take about as much less time.
#pragma once

#include <optional>
#include <set>

#include "sextant/planner.h"

namespace sextant::inline planner {

// The devices of all tasks.
[[nodiscard]] std::set<DeviceId> devices_of(const Plan& plan);

// The plan repeated as often as the cluster has room for it, or less often if that is faster or the batch asks for
// it; it obeys the framework's rules. nullopt if it does not fit or is not faster, or if machines differ, links
// distinguish them, the plan's devices are not the first machines, or tasks are pinned.
[[nodiscard]] std::optional<PlanResult> repeated_on_idle_devices(const PlanRequest& request,
                                                                 const PlanResult& result);

}  // namespace sextant::inline planner
