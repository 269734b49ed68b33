// sextant probe on CPU ranks: a single one, or those of a job under mpirun and srun.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/ranks/cluster_probe.h"

namespace sextant::cli {

struct ProbeRanksOptions {
  ProbeOptions probe;
  std::string journal;  // file; empty: no journal
  bool resume = false;
  std::string devices = "cores";  // the devices that the journal covers
  double longest_silence_s = 0;   // between two steps; 0: the default for cores
  // Called on a thread of its own with the results so far if a rank that all others wait for was lost, before
  // the program ends with exit code 3; may be empty.
  std::function<void(const ClusterProbe& probe)> on_remains = {};
};

// Preserves a job's measurements: the journal on rank 0's disk, Ctrl-C, and a watchdog that
// reports silent ranks. A single rank has neither of the last two. All ranks make and use
// it.
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

// Returns the hosts' places from the file, which rank 0 reads. Collective; all ranks get the same or an error.
[[nodiscard]] HostPlaces read_places(Communicator& ranks, const std::string& file);

// Measures; with a journal every finished measurement is written to rank 0's disk, and Ctrl-C ends it with the
// results so far. Collective.
[[nodiscard]] ClusterProbe probe_ranks(Communicator& ranks, const ProbeRanksOptions& options);

// Returns rounds, groups and their maximum time as text; measures nothing. Collective.
[[nodiscard]] std::string describe_schedule(Communicator& ranks, const ProbeOptions& options);
// Same as above for ranks with one GPU each, or one rank with several; `total_budget_s` is --total-budget.
[[nodiscard]] std::string describe_gpu_schedule(Communicator& ranks, const ProbeOptions& options,
                                                double total_budget_s, int gpus);

}  // namespace sextant::cli
