// An independent check that a plan can run and fits in memory.
//
// It does the same as check_plan and plan_memory but calls neither of them nor anything below them: parameters,
// states, activations, KV cache and logits are counted again from the documented formulas, slowly and plainly,
// so that an error in either shows as a disagreement. Shared are the documents (cluster, workflow with its
// length statistics, plan, coefficients), the bytes of a number format and the semantics of a framework's
// options.
//
// Rules: violation.h lists them; C1 to C3 are those of HetRL, section 3.1.
#pragma once

#include <string_view>
#include <vector>

#include "planner/verify/violation.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/search_space.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

struct Verdict {
  std::vector<Violation> violations;  // in the order of tasks, replicas and stages; then devices, then nodes
  std::vector<DeviceMemory> devices;  // devices of the plan, ascending
  std::vector<HostMemory> hosts;      // nodes that hold offloaded states, ascending
  [[nodiscard]] bool feasible() const { return violations.empty(); }
};

// Never throws for an invalid plan; the workflow and the cluster must be valid documents. If a plan breaks
// another rule, its memory is not computed: `devices` and `hosts` are empty, and C3 is not checked. `framework`
// selects the coefficients of one framework, as in predict. pins: of tasks with fixed devices; a pin of a task
// that is not in the workflow is a violation.
[[nodiscard]] Verdict verify_plan(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                                  const Coefficients& coefficients, std::string_view framework = kAny,
                                  const Pins& pins = {});

}  // namespace sextant::inline planner
