// A proxy that is a job of a group on shared pools: its phases wait for permits of `sextant coschedule run`, and run on the
// cores of the pools. The states of a suspended phase stay in the memory of the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/shared/command.h"
#include "probes/comm/communicator.h"
#include "probes/proxy/session.h"

namespace sextant::cli {

struct PermitOptions {
  std::string server;                              // Unix socket; empty: no permits
  std::string job;                                 // of the group
  std::vector<int> rollout_cores, training_cores;  // empty: any
};

void add_permit_options(const Command& command, PermitOptions& options);

// Rank 0 asks for the permits, and all ranks move to the cores of a phase. Null without a server. Throws
// Error(bad_input) if options are missing or a core is not this process's, Error(machine) if there is no server.
[[nodiscard]] std::unique_ptr<PhaseGate> permit_gate(const PermitOptions& options, Communicator& ranks);

}  // namespace sextant::cli
