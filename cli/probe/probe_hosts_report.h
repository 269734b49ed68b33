// Outputs the results of a probe of many hosts: documents, the table, warnings.
#pragma once

#include "cli/probe/probe_hosts.h"

namespace sextant::cli {

// Returns the exit code. Writes all results to the requested outputs, even if some are missing; removes the
// journal if none is.
[[nodiscard]] int report_on_hosts(const ProbeHostsOptions& options, const FleetRecord& fleet);

}  // namespace sextant::cli
