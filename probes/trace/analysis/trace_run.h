// Converts a traced program to a run of the cost model: documents describe its work, the trace has the times.
#pragma once

#include <map>
#include <string>

#include "probes/trace/analysis/summary.h"
#include "sextant/run.h"

namespace sextant::trace {

struct TracedSetup {
  std::string name;       // name of the run
  std::string framework;  // that executed it
  Cluster cluster;
  Workflow workflow;
  Plan plan;
};

// Adds the run to `runs` with its cluster, workflow and plan. Throws Error(bad_input) if the trace has no whole
// iteration, no task of the workflow was found, the plan does not fit, or the name is taken; an existing
// document with the same name must be equal.
void add_traced_run(const TraceSummary& summary, const TracedSetup& setup, Runs& runs);

}  // namespace sextant::trace
