// An independent check of a plan: is it one that can be run, and does it fit?
//
// It stands beside check_plan and plan_memory and calls neither of them nor anything below them: parameters,
// states, activations, KV cache and logits are counted again from the documented formulas, slowly and plainly,
// so that a slip in either shows as a disagreement. Shared are the documents (cluster, workflow with the
// statistics of its lengths, plan, coefficients), the bytes of a number format and the meaning of a framework's
// knobs.
//
// Rules: violation.h names them; C1 to C3 are those of HetRL, section 3.1.
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

namespace sextant {

struct Verdict {
  std::vector<Violation> violations;  // in the order of tasks, replicas and stages; then devices, then nodes
  std::vector<DeviceMemory> devices;  // that the plan uses, ascending
  std::vector<HostMemory> hosts;      // nodes that hold offloaded states, ascending
  [[nodiscard]] bool feasible() const { return violations.empty(); }
};

// Never throws for a plan, however wrong; the workflow and the cluster must be valid documents. A plan that
// breaks another rule has no memory: `devices` and `hosts` are empty, and C3 is not looked at. `framework`
// chooses coefficients that belong to one, as in predict. pins: of tasks that had to stay where they are; one
// that the workflow does not have is broken too.
[[nodiscard]] Verdict verify_plan(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                                  const Coefficients& coefficients, std::string_view framework = kAny,
                                  const Pins& pins = {});

}  // namespace sextant
