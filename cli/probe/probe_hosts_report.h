// What a probe of many hosts found, handed over: documents, the table, warnings.
#pragma once

#include "cli/probe/probe_hosts.h"

namespace sextant::cli {

// The exit code. What there is goes to where it was asked for, whatever is missing; the journal goes when
// nothing is.
[[nodiscard]] int report_on_hosts(const ProbeHostsOptions& options, const FleetOutcome& outcome);

}  // namespace sextant::cli
