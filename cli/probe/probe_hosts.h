// sextant probe --hosts: many hosts, each reached by a launcher (ssh, srun, ...), without MPI.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/probe/probe_command.h"
#include "probes/fleet/fleet_probe.h"
#include "probes/schedule/host_schedule.h"

namespace sextant::cli {

// The heading of these options in the help.
inline constexpr const char* kManyHosts = "Many hosts";

struct ProbeHostsOptions {
  std::string hosts;  // empty: --hosts was not given
  std::string launcher;
  std::string ports;
  ProbeFiles files;
  std::string name;
  int sockets = 1;
  Option streams;  // whether --streams was given
  ScheduleOptions schedule;
  FleetOptions fleet;
};

// The journal and the dry run, which ranks have too, are options of `files`.
void add_probe_hosts(const Command& command, ProbeHostsOptions& options, ProbeFiles& files);

// Returns the exit code.
[[nodiscard]] int probe_hosts(ProbeHostsOptions options);

}  // namespace sextant::cli
