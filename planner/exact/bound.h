// A lower bound of an iteration for any plan of any planner, in well under a millisecond. It limits the
// distance of a plan from the best one under this model.
//
// It holds for every plan of the request's workflow on its cluster that check_plan accepts and whose tasks
// have the request's execution options: any devices in any order, uneven stages and shares, any
// micro-batches, recomputation and synchronization method, whether or not it fits into memory. Pins only
// remove plans, so the bound ignores them and still holds. Coefficients must be within the ranges of their
// table.
//
// Ideal splitting. The work of a task - FLOP of its sequences, weights that decoding reads, its KV cache, the
// optimizer's passes - is a sum over devices of the part that each does. A replica's time is at least that of
// each of its devices (costmodel/task.h: maxima over replicas, stages and devices of sums of terms, none
// negative), so with c_wd the time of work item w if device d did all of it and f_wd the share that it does,
//   T >= sum over w of f_wd c_wd   for every d,   sum over d of f_wd >= 1.
// For any x >= 0 with sum over d of x_d = 1 follows (weak duality of that linear program)
//   T >= sum over w of min over d of x_d c_wd.
// Tasks of one phase that share a device wait for each other (costmodel/iteration.h), so their items may be in
// one sum; an iteration is the sum of its phases. If generation overlaps the rest it has devices of its own, so
// all tasks' items may be in one sum too. Communication, pipeline bubbles, stragglers and gathered or copied
// weights count as zero; the fixed costs of every plan are added. Where generation waits for its longest response,
// it takes at least the time of that response alone, with the fastest step of any layout (longest_response.h).
//
// Decoding reads all weights at least once per step in a single replica, and computes for all sequences. A
// kernel takes at least the longer of both, so both are tried. Reads of routed experts are left out.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sextant/planner.h"

namespace sextant::inline planner {

// The bound in seconds. Throws Error(bad_input) if a device has no rate for the workflow's precision.
[[nodiscard]] double min_iteration_s(const PlanRequest& request);

// The same bound of plans on some devices of the cluster, or on some of these.
using PartBound = std::function<double(const std::vector<std::uint16_t>& devices)>;

// Computes the work of the tasks once for all parts of the cluster. The request must outlive the result.
[[nodiscard]] PartBound part_bound(const PlanRequest& request);

// A lower bound of the dollars per iteration for any such plan that rents the devices it uses
// (sextant/objective.h): each item on the type that does it most cheaply, without idle time. Devices of a plan
// are paid for at least as long as they are busy,
//   T sum over d of p_d >= sum over d and w of p_d f_wd c_wd >= sum over w of min over d of p_d c_wd.
// Throws Error(bad_input) if a device type has no price.
[[nodiscard]] double min_usd_per_iteration(const PlanRequest& request);

// Times by device type: time of a work item on one device of the type, if it did all of it.
using ItemTimes = std::vector<double>;

// A lower bound of the time of any split of the items over devices (`counts` per type): weak duality with a
// good x, so it may be slightly below the best split. Exact if the items' times are proportional.
[[nodiscard]] double min_split_s(const std::vector<ItemTimes>& items, const std::vector<int>& counts);

}  // namespace sextant::inline planner
