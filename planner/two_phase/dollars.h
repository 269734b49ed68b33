// What a plan costs where the cluster states prices (AReaL-Hex, sections 3 and 4.7, Tables 1 and 4), and which
// GPUs to rent for a budget.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/request/subcluster.h"
#include "sextant/planner.h"

namespace sextant {

// All devices of a plan are paid for the whole iteration, also while they wait.
struct PlanDollars {
  double usd_per_hour = 0;
  double usd_per_iteration = 0;
  double usd_per_token = 0;  // of prompts and responses of an iteration, by their means
  double tokens_per_usd = 0;
};

// Nothing where a device that the plan uses has no price. iteration_s: as predicted.
[[nodiscard]] std::optional<PlanDollars> dollars_of(const Cluster& cluster, const Workflow& workflow,
                                                    const Plan& plan, double iteration_s);

// Of one task (Table 1): its devices for the time that it takes, over the tokens that it makes or trains on -
// responses for generation, whole sequences for the others. Nothing likewise.
[[nodiscard]] std::optional<double> task_usd_per_token(const Cluster& cluster, const Workflow& workflow,
                                                       const Plan& plan, const Prediction& prediction,
                                                       const std::string& task);

// The cluster without some machines, by the number that each class of machines (space/machines.h) keeps.
[[nodiscard]] Subcluster rented(const Cluster& cluster, const std::vector<int>& machines);

struct RentedPlan {
  Subcluster part;  // what is rented: the plan's devices are numbered in it
  double usd_per_hour = 0;
  PlanResult result;
};

// The best plan by two phases on whole machines that cost at most `usd_per_hour` together: every choice of
// machines to which no further one could be added is planned for. Other machines of the request's cluster are
// not rented. The request's budget holds for each choice. An infeasible result where the budget pays for no
// machine; throws Error(bad_input) where a device type has no price, or there are more than a thousand choices.
[[nodiscard]] RentedPlan plan_within_budget(const PlanRequest& request, double usd_per_hour);

}  // namespace sextant
