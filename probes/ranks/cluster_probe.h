// Measures the machines of this job and assembles a Cluster from the results.
//
// All ranks measure their device at the same time, because a job uses them like that: cores that share memory
// channels or a power budget slow each other down. Then pairs of ranks measure their link, nodes first
// (schedule/rank_pairs.h), and groups of ranks their collectives, from each node to all
// (collective/growing_groups.h).
#pragma once

#include <vector>

#include "probes/campaign/findings.h"
#include "probes/campaign/probe_hooks.h"
#include "probes/campaign/probe_options.h"
#include "probes/comm/communicator.h"
#include "probes/journal/probe_journal.h"

namespace sextant::inline probes {

// Collective; the same result on every rank, unless ranks were lost: then only rank 0 has more than `lost`, and
// no rank may communicate with all others any more. `done`: earlier measurements, the same on every rank; they
// are not repeated. Throws Error(machine) if a device or the links of a level cannot be measured at all, or if
// it was interrupted before the devices were; Error(bad_input) for invalid options.
[[nodiscard]] ClusterProbe probe_cluster(Communicator& world, const ProbeOptions& options,
                                         const ProbeJournal& done = {}, const ProbeHooks& hooks = {});

// Returns the sizes of the collectives between CPU ranks.
[[nodiscard]] std::vector<double> rank_collective_sizes_bytes(const ProbeOptions& options);
// Returns the options for measuring pairs of CPU ranks.
[[nodiscard]] LinkOptions rank_link_options(const ProbeOptions& options);
// Returns the sampling options of one of their collectives.
[[nodiscard]] SamplingOptions rank_collective_sampling(const ProbeOptions& options);
// Returns the maximum time for measuring the devices.
[[nodiscard]] double longest_devices_s(const ProbeOptions& options);

}  // namespace sextant::inline probes
