// sextant probe --hosts: many hosts, each reached by a launcher (ssh, srun, ...), without MPI.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "probes/fleet/fleet_probe.h"
#include "probes/schedule/host_schedule.h"

namespace sextant::cli {

// The heading of these options in the help.
inline constexpr const char* kManyHosts = "Many hosts";

struct ProbeHostsOptions {
  std::string hosts;  // empty: --hosts was not given
  std::string launcher;
  std::string ports;
  std::string journal;
  bool resume = false;
  bool dry_run = false;
  bool json = false;
  std::string name;
  std::string out;
  std::string samples;
  int sockets = 1;
  Option streams;  // whether --streams was given
  ScheduleOptions schedule;
  FleetOptions fleet;
};

void add_probe_hosts(const Command& command, const std::shared_ptr<ProbeHostsOptions>& options);

// Returns the exit code. `device_options` are those of a probe of one host, passed to the agents' probes.
[[nodiscard]] int probe_hosts(ProbeHostsOptions options);

}  // namespace sextant::cli
