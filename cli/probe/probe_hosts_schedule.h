// The schedule of the pairs of hosts, and an estimate of the total time.
#pragma once

#include "cli/probe/probe_hosts.h"

namespace sextant::cli {

// Returns the rounds without the pairs in `done`.
[[nodiscard]] PairRounds rounds_for(const std::vector<Host>& hosts, const ScheduleOptions& options,
                                    const FleetJournal& done);

// Prints the schedule for --dry-run and returns the exit code.
[[nodiscard]] int show_schedule(const ProbeHostsOptions& options, const std::vector<Host>& hosts,
                                const PairRounds& rounds);

// Returns the time limit for the probe of a host's devices, from its arguments (--total-budget, --budget).
[[nodiscard]] double device_limit_s(const std::vector<std::string>& device_options);

}  // namespace sextant::cli
