// The tables of fields of jobs, pools, groups and placements.
#pragma once

#include "documents/values/fields.h"
#include "planner/coschedule/group.h"

namespace sextant::coschedule {

[[nodiscard]] const Fields<Responses>& responses_fields();
[[nodiscard]] const Fields<Job>& job_fields();
[[nodiscard]] const Fields<Pool>& pool_fields();
[[nodiscard]] const Fields<Pools>& pools_fields();
[[nodiscard]] const Fields<JobTrace>& job_trace_fields();
[[nodiscard]] const Fields<Member>& member_fields();
[[nodiscard]] const Fields<Group>& group_fields();
[[nodiscard]] const Fields<Placement>& placement_fields();

}  // namespace sextant::coschedule
