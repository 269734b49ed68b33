// A job of `sextant coschedule` from a workflow and its plan: times of its phases and memory of its suspended states
// from the cost model.
#pragma once

#include <string>

#include "cli/ask/inputs.h"
#include "planner/coschedule/job.h"

namespace sextant::cli {

struct JobQuestion {
  ModelInputs inputs;
  std::string plan;
  std::string name;
  double max_slowdown = 1.5;
};

// Rollout is generation, training everything else; both must be on nodes of their own. Bounds are of responses that
// all have the maximum length, typical_fraction is of the workflow's lengths. A host holds what its devices hold,
// without the KV cache; bringing it back takes as long as the devices' links to the host need. Notes go to
// standard error.
[[nodiscard]] coschedule::Job job_of(const JobQuestion& question);

}  // namespace sextant::cli
