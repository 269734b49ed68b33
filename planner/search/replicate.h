// A plan of a part of the cluster, repeated on the devices that it leaves idle.
//
// Where memory is short few layouts fit, and a short search may find one on a part of the cluster alone. Each task's
// replicas, repeated on the other machines of the same kind with as much less of the batch each, fit as well, and take
// about as much less time.
#pragma once

#include <optional>

#include "sextant/planner.h"

namespace sextant::inline planner {

// The plan repeated as often as the cluster has room for it, or less often if that is faster or the batch asks for
// it; it obeys the framework's rules. nullopt if it does not fit or is not faster, or if machines differ, links
// distinguish them, the plan's devices are not the first machines, or tasks are pinned.
[[nodiscard]] std::optional<PlanResult> repeated_on_idle_devices(const PlanRequest& request,
                                                                 const PlanResult& result);

}  // namespace sextant::inline planner
