// The price of a plan if the cluster states prices (AReaL-Hex, sections 3 and 4.7, Tables 1 and 4), and the
// GPUs to rent for a budget.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/request/subcluster.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// All devices of a plan are paid for during the whole iteration, including idle time.
struct PlanDollars {
  double usd_per_hour = 0;
  double usd_per_iteration = 0;
  double usd_per_token = 0;  // mean prompt and response tokens of an iteration
  double tokens_per_usd = 0;
};

// Returns nullopt if a device of the plan has no price. iteration_s: the prediction.
[[nodiscard]] std::optional<PlanDollars> dollars_of(const Cluster& cluster, const Workflow& workflow,
                                                    const Plan& plan, double iteration_s);

// Dollars per token of one task (Table 1): its devices for its time, divided by the tokens that it generates or
// trains on - responses for generation, whole sequences for the others. Nullopt if a device has no price.
[[nodiscard]] std::optional<double> task_usd_per_token(const Cluster& cluster, const Workflow& workflow,
                                                       const Plan& plan, const Prediction& prediction,
                                                       const std::string& task);

// The cluster with only `machines` machines of each class (space/machines.h).
[[nodiscard]] Subcluster rented(const Cluster& cluster, const std::vector<int>& machines);

struct RentedPlan {
  Subcluster part;  // the rented devices, in whose numbers the plan is
  double usd_per_hour = 0;
  PlanResult result;
};

// The best two-phase plan on whole machines that cost at most `usd_per_hour` together. It plans for every
// maximal choice of machines, that is, one to which no further machine can be added, with the request's budget
// for each choice. Other machines of the cluster are not rented. Infeasible if the budget pays for no machine;
// throws Error(bad_input) if a device type has no price or there are more than a thousand choices.
[[nodiscard]] RentedPlan plan_within_budget(const PlanRequest& request, double usd_per_hour);

}  // namespace sextant::inline planner
