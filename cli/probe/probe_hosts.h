// sextant probe --hosts: many hosts, each reached by a launcher (ssh, srun, ...), without MPI.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "probes/fleet/fleet_probe.h"
#include "probes/fleet/links/schedule.h"

namespace sextant::cli {

// The group of these options in the help.
inline constexpr const char* kManyHosts = "Many hosts";

struct ProbeHostsOptions {
  std::string hosts;  // empty: this is not asked for
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

// The exit code. `device_options` are those of a probe of one host, as the agents' probes get them.
[[nodiscard]] int probe_hosts(ProbeHostsOptions options);

}  // namespace sextant::cli
