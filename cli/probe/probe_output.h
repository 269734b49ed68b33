// Writes what a probe of ranks has found, and ends a probe: its exit code, and what becomes of its journal.
#pragma once

#include <string>

#include "cli/probe/probe_command.h"
#include "cli/probe/probe_devices.h"

namespace sextant::cli {

// Writes and prints the documents, the table and the warnings; returns the exit code. may_end_job: ends the job if
// ranks were lost, because the others would wait for them.
int write_outputs(const ProbeCommand& command, const Measured& measured, bool may_end_job = true);

// Returns the exit code. A complete probe loses its journal; an incomplete one says how it goes on.
int finish_probe(const ProbeFiles& files, bool is_whole, bool is_interrupted);

}  // namespace sextant::cli
