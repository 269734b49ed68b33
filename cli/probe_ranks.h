// sextant probe of CPU ranks: one of them alone, or a job's under mpirun and srun.
#pragma once

#include <string>
#include <vector>

#include "probes/cluster_probe.h"
#include "probes/comm/communicator.h"

namespace sextant::cli {

struct ProbeRanksOptions {
  ProbeOptions probe;
  std::string journal;  // file; empty: none
  bool resume = false;
};

// Where the hosts of the file are, which rank 0 reads for all. Collective; the same on every rank, errors too.
[[nodiscard]] HostPlaces read_places(Communicator& ranks, const std::string& file);

// Measures; with a journal every finished measurement is on rank 0's disk, and Ctrl-C ends it with what there
// is. Collective.
[[nodiscard]] ClusterProbe probe_ranks(Communicator& ranks, const ProbeRanksOptions& options);

// Rounds, groups and how long they take at most, as text; measures nothing. Collective.
[[nodiscard]] std::string describe_schedule(Communicator& ranks, const ProbeOptions& options);
// The same of ranks that have a GPU each, or one that has several; `total_budget_s` is --total-budget.
[[nodiscard]] std::string describe_gpu_schedule(Communicator& ranks, const ProbeOptions& options,
                                                double total_budget_s, int gpus);

}  // namespace sextant::cli
