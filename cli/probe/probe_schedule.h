// Prints the schedule of a probe and its estimated time, for --dry-run; measures nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/probe/probe_hosts.h"
#include "probes/campaign/probe_options.h"
#include "probes/comm/communicator.h"

namespace sextant::cli {

// Returns rounds, groups and their maximum time as text. Collective.
[[nodiscard]] std::string describe_schedule(Communicator& ranks, const ProbeOptions& options);
// Same as above for ranks with one GPU each, or one rank with several; `total_budget_s` is --total-budget.
[[nodiscard]] std::string describe_gpu_schedule(Communicator& ranks, const ProbeOptions& options,
                                                double total_budget_s, int gpus);
// Same as above for many hosts.
[[nodiscard]] std::string describe_host_schedule(const FleetOptions& options, const std::vector<Host>& hosts,
                                                 const PairRounds& rounds);

// Returns the time limit for the probe of a host's devices, from its arguments (--total-budget, --budget).
[[nodiscard]] double device_limit_s(const std::vector<std::string>& device_options);

// Returns the maximum time between two steps of a probe of cores.
[[nodiscard]] double longest_silence_s(const ProbeOptions& options);

}  // namespace sextant::cli
