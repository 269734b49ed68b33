// Measures the GPUs of a job's ranks, or of one process, and the links between them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probes/campaign/probe_hooks.h"
#include "probes/campaign/probe_options.h"
#include "probes/gpu/gpu_nccl.h"
#include "probes/gpu/gpu_probe.h"
#include "probes/journal/probe_journal.h"
#include "probes/report/rank_report.h"
#include "probes/topology/gpu_fabric.h"
#include "probes/topology/link_facts.h"

namespace sextant::inline probes {

// The tools of a GPU probe; tests have their own.
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
  // A rank that is silent for longer while GPUs are measured is lost; unset: follows from the budgets.
  std::optional<double> silence_s = {};
  // Earlier measurements, the same on every rank, and callbacks for new ones.
  ProbeJournal done = {};
  ProbeHooks hooks = {};
};

// The results of one rank, and of all ranks.
struct GpuRanks {
  GpuProbe gpus;
  Findings found;  // reports of all GPUs of the job, in their order
};

// Collective. Three methods:
//   One rank: all GPUs of this host, one after another, the copies between them, NCCL from threads.
//   A rank per GPU: its own GPU, all at the same time; then on each host whose ranks see all their GPUs the
//     first rank measures the copies between these; then NCCL between the ranks.
//   Hosts with one rank each, some of which see several GPUs: each rank measures its host as in the first
//     method, then NCCL between the first GPUs of the hosts; a warning says what is missing.
// Every finished measurement is reported at rank 0 (hooks; NCCL between the GPUs of a host from any
// thread, and of the third method at its end) and need not be repeated (done). Several ranks end at the
// next turn or level after a stop request. GPUs of a host that no rank measures are reported in a
// warning. Throws Error(bad_input) if a host has fewer GPUs than ranks, Error(machine) if there is
// none.
[[nodiscard]] GpuRanks measure_gpu_ranks(Communicator& ranks, const GpuTools& tools,
                                         const GpuClusterOptions& options);

}  // namespace sextant::inline probes
