// Simplifies plans with execution options that the proxy does not implement.
#pragma once

#include <string>
#include <vector>

#include "probes/proxy/checks.h"

namespace sextant::proxy {

struct SimplifiedPlan {
  Plan plan;
  std::vector<std::string> left_out;  // one sentence per task that runs differently from its plan
};

// Returns the plan as the proxy runs it: without the options that change how a device computes its part of a
// task (kernels, memory, formats, sharding of states, interleaving). Budgets of tokens become micro-batches of
// sequences of mean length. Options that change which part a device computes (context and expert parallelism,
// LoRA) stay, and check_runnable rejects them. The plan has passed check_plan.
[[nodiscard]] SimplifiedPlan simplify(const Plan& plan, const Workflow& workflow, const EngineLimits& limits);

}  // namespace sextant::proxy
