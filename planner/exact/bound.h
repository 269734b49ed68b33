// A lower bound of an iteration for any plan of any planner, in well under a millisecond: how far a plan can be
// from the best under this model, wherever that may be.
//
// It holds for every plan of the request's workflow on its cluster that check_plan accepts and whose tasks have
// the request's execution options: any devices in any order, uneven stages and shares, any micro-batches,
// recomputation and way to synchronize, whether it fits into memory or not. Pins leave fewer plans and so raise
// the least of them at most: the bound does not know of them, and holds. Coefficients must be within the ranges
// of their table.
//
// Ideal splitting. What a task must do - FLOP of its sequences, weights that decoding reads, its KV cache, the
// optimizer's passes - is a sum over devices of what each does of it. A replica's time is at least that of each
// of its devices (costmodel/task.h: maxima over replicas, stages and devices of sums of terms, none negative),
// so with c_wd the time of work item w if device d did all of it and f_wd the share that it does,
//   T >= sum over w of f_wd c_wd   for every d,   sum over d of f_wd >= 1.
// For any x >= 0 with sum over d of x_d = 1 follows (weak duality of that linear program)
//   T >= sum over w of min over d of x_d c_wd.
// Tasks of one phase that share a device wait for each other (costmodel/iteration.h), so their items may stand
// in one sum; an iteration is the sum of its phases. Where generation runs beside the rest it has devices of
// its own, so that all tasks' items may stand in one sum too. Communication, pipeline bubbles, stragglers and
// gathered or copied weights count as nothing; what every plan pays once is added.
//
// Decoding reads all weights at least once a step in a single replica, and does its arithmetic for all
// sequences: a kernel takes at least the longer, so both are tried. Of routed experts the reads are left out.
#pragma once

#include <vector>

#include "sextant/planner.h"

namespace sextant {

// Seconds. Throws Error(bad_input) where a device has no rate for the workflow's precision.
[[nodiscard]] double min_iteration_s(const PlanRequest& request);

// Dollars that an iteration costs under any such plan that rents the devices it uses (sextant/objective.h): of
// each item what it costs on the type that does it most cheaply, idle time not counted. Devices of a plan are
// paid for at least as long as they are busy,
//   T sum over d of p_d >= sum over d and w of p_d f_wd c_wd >= sum over w of min over d of p_d c_wd.
// Throws Error(bad_input) where a device type has no price.
[[nodiscard]] double min_usd_per_iteration(const PlanRequest& request);

// By device type: time of a work item on one device of the type, if it did all of it.
using ItemTimes = std::vector<double>;

// No split of the items over devices (`counts` of each type) is done sooner: what weak duality gives for a
// good x, which may be somewhat less than the best split. Exact where items are as proportional as rates.
[[nodiscard]] double min_split_s(const std::vector<ItemTimes>& items, const std::vector<int>& counts);

}  // namespace sextant
