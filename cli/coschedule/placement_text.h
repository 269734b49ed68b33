// The texts that the commands about a placement print.
#pragma once

#include "cli/coschedule/coschedule_options.h"
#include "planner/coschedule/group.h"

namespace sextant::cli {

// Prints the group with its jobs, their turns and, if they have lengths, what typical iterations take.
void print_group(const coschedule::Group& group, const coschedule::Placement& placement);

// Prints what the promises mean and which tails they count on; nothing for promises at the bounds.
void print_promise(const coschedule::Placement& placement);

// Prints the cost of the placement and the lower bound of any placement of its jobs.
void print_cost(const coschedule::Placement& placement, const CoscheduleOptions& options);

}  // namespace sextant::cli
