// The cluster whose devices are the cores of ranks.
#pragma once

#include "probes/campaign/findings.h"
#include "probes/campaign/probe_options.h"

namespace sextant::inline probes {

// Returns the results with the fits of links, warnings, and a cluster of the ranks that have reports. An
// incomplete probe may have no cluster; throws as assemble_cluster does if a complete one has none.
[[nodiscard]] ClusterProbe assemble_core_cluster(const Findings& found, const ProbeOptions& options);

}  // namespace sextant::inline probes
