// A traced program as a run of the cost model: what it ran is told by documents, how long it took by the trace.
#pragma once

#include <map>
#include <string>

#include "probes/trace/analysis/summary.h"
#include "sextant/run.h"

namespace sextant::trace {

struct TracedSetup {
  std::string name;       // of the run
  std::string framework;  // whose execution
  Cluster cluster;
  Workflow workflow;
  Plan plan;
};

// Puts the run into `runs` with its cluster, workflow and plan. Error(bad_input) when the trace has no whole
// iteration, no task of the workflow was seen, the plan does not fit, or the name is taken; another document of
// a name that is there already must be the same.
void add_traced_run(const TraceSummary& summary, const TracedSetup& setup, Runs& runs);

}  // namespace sextant::trace
