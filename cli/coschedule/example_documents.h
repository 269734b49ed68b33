// Documents of co-scheduling to start from: those of `sextant init`.
#pragma once

#include "planner/coschedule/group.h"

namespace sextant::cli {

// A job of one node of each pool, with lengths of its responses.
[[nodiscard]] coschedule::JobDocument example_job();
// Two jobs that share one pair of nodes of WEAVE's pools.
[[nodiscard]] coschedule::Placement example_placement();
// Three jobs that arrive within an hour.
[[nodiscard]] coschedule::JobTrace example_trace();

}  // namespace sextant::cli
