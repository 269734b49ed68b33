// Plans with execution options that the proxy has no code for.
#pragma once

#include <string>
#include <vector>

#include "probes/proxy/checks.h"

namespace sextant::proxy {

struct SimplifiedPlan {
  Plan plan;
  std::vector<std::string> left_out;  // one sentence for each task that runs otherwise than its plan says
};

// The plan as the proxy runs it: without the options that change how a device computes its part of a task
// (kernels, memory, formats, sharding of states, interleaving). Budgets of tokens become micro-batches of so many
// sequences of mean length. Options that change which part a device computes (context and expert parallelism,
// LoRA) stay, and check_runnable refuses them. The plan has passed check_plan.
[[nodiscard]] SimplifiedPlan simplify(const Plan& plan, const Workflow& workflow, const EngineLimits& limits);

}  // namespace sextant::proxy
