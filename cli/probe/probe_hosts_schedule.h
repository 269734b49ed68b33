// Which pairs of hosts are measured when, and about how long everything takes.
#pragma once

#include "cli/probe/probe_hosts.h"

namespace sextant::cli {

// Without those that `done` has.
[[nodiscard]] PairRounds rounds_for(const std::vector<Host>& hosts, const ScheduleOptions& options,
                                    const FleetJournal& done);

// --dry-run.
[[nodiscard]] int show_schedule(const ProbeHostsOptions& options, const std::vector<Host>& hosts,
                                const PairRounds& rounds);

// How long the probe of a host's devices may take, from the words that it is given (--total-budget, --budget).
[[nodiscard]] double device_limit_s(const std::vector<std::string>& device_options);

}  // namespace sextant::cli
