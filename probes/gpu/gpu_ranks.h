// What the ranks of a job, or one process alone, measure on their GPUs and between them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/cluster_probe.h"
#include "probes/gpu/gpu_nccl.h"
#include "probes/gpu/gpu_probe.h"
#include "probes/rank_journal.h"
#include "probes/report/rank_report.h"
#include "probes/topology/gpu_fabric.h"
#include "probes/topology/link_facts.h"

namespace sextant {

// What a GPU probe works with; tests bring their own.
struct GpuTools {
  GpuDevices& devices;
  GpuSensors& sensors;
  GpuFabric& fabric;
  MakeCollectives make_collectives;
  SystemFiles files;
  const Clock& clock = steady_clock();
};

struct GpuClusterOptions {
  ProbeOptions cluster;  // its name, region and zone
  GpuProbeOptions gpus;
  CollectiveOptions nccl;
  LinkFacts facts;
  // Who says nothing for longer while GPUs are measured is lost; in place of what follows from the budgets.
  std::optional<double> silence_s = {};
  // What was measured before, the same on every rank, and what is told as it comes.
  RankJournal done = {};
  ProbeHooks hooks = {};
};

// What one rank found, and what every rank found.
struct GpuRanks {
  GpuProbe gpus;
  std::vector<RankReport> reports;    // of all GPUs of the job, in their order; see `lost`
  std::vector<std::string> warnings;  // the same on every rank
  bool is_interrupted = false;
  // Ranks that fell silent while GPUs were measured, and why. Then only rank 0 has reports, those of the
  // others, and no rank may talk to all others any more.
  std::map<int, std::string> lost = {};
};

// Collective. In three ways:
//   One rank: all GPUs of this host, one after another, the copies between them, NCCL from threads.
//   A rank for each GPU: its own, all at the same time; then on each host whose ranks see all their GPUs the
//   first of them the copies between these; then NCCL between the ranks.
//   Hosts with one rank each, some of which see several GPUs: each rank all GPUs of its host as in the first
//   way, then NCCL between the first GPUs of the hosts; a warning says what is missing.
// Every finished measurement is told at rank 0 (hooks; NCCL between the GPUs of a host from any thread, and of
// the third way once it is over) and need not be made again (done). Several ranks end at the next turn or level
// where they are told to. A host's GPUs that no rank measures are named in a warning.
// Throws Error(bad_input) when there are not as many GPUs as ranks on a host, Error(machine) when there is
// none.
[[nodiscard]] GpuRanks measure_gpu_ranks(Communicator& ranks, const GpuTools& tools,
                                         const GpuClusterOptions& options);

}  // namespace sextant
