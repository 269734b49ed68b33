// sextant probe of CPU ranks: one of them alone, or a job's under mpirun and srun.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probes/cluster_probe.h"
#include "probes/comm/communicator.h"

namespace sextant::cli {

struct ProbeRanksOptions {
  ProbeOptions probe;
  std::string journal;  // file; empty: none
  bool resume = false;
  std::string devices = "cores";  // what the journal is of
  double longest_silence_s = 0;   // between two steps; none: as cores need
  // Where a rank was lost that all others wait for: what there is, on a thread of its own, before the program
  // ends with exit code 3; may be empty.
  std::function<void(const ClusterProbe& probe)> on_remains = {};
};

// What keeps a job's measurements: the journal on rank 0's disk, Ctrl-C, and a watchdog that names ranks which
// are silent.
// One rank alone has neither of the last two. Made and used by all ranks.
class KeptProbe {
 public:
  KeptProbe(Communicator& ranks, const ProbeRanksOptions& options);
  ~KeptProbe();
  KeptProbe(const KeptProbe&) = delete;
  KeptProbe& operator=(const KeptProbe&) = delete;

  [[nodiscard]] const RankJournal& done() const { return done_; }  // the same on every rank
  [[nodiscard]] const ProbeHooks& hooks() const { return hooks_; }

 private:
  struct Keepers;
  RankJournal done_;
  std::unique_ptr<Keepers> keepers_;
  ProbeHooks hooks_;
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
