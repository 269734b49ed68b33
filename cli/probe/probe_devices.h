// sextant probe without --hosts: whose devices are measured, GPUs or cores.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/cluster_probe.h"
#include "probes/comm/communicator.h"
#include "probes/gpu/gpu_devices.h"
#include "probes/gpu/gpu_ranks.h"
#include "sextant/precision.h"

namespace sextant::cli {

struct ProbeCommand {
  ProbeOptions probe;
  std::string places;
  std::string model;
  std::string out;
  std::string samples;
  std::string devices = "auto";
  std::vector<Precision> model_precisions = {Precision::bf16};
  double total_budget_s = 50;
  bool json = false;
  // Of ranks of which one was lost where all wait for it (ProbeRanksOptions).
  std::function<void(const ClusterProbe& probe)> on_remains = {};
  std::string emulated;  // a name of emulated_names(): nothing is measured
};

// Of what is measured, by whatever ranks.
struct ProbeJournal {
  std::string file;  // empty: none
  bool resume = false;
};

// What was measured, and the text for people about it.
struct Measured {
  ClusterProbe probe;
  std::string text;
  Json more_samples = Json::object();  // members of the file of samples
};

// Whose devices are measured.
struct Target {
  std::unique_ptr<GpuDevices> gpus;  // none: cores
  std::string no_gpus;               // why not, where GPUs were looked for
};

using MakeGpuDevices = std::function<std::unique_ptr<GpuDevices>()>;

// `wanted`: --devices. Collective. Throws Error(machine) where GPUs were asked for and there is none.
[[nodiscard]] Target find_target(Communicator& ranks, const std::string& wanted,
                                 const MakeGpuDevices& make_devices = make_gpu_devices);

// Collective.
[[nodiscard]] Measured measure(const Target& target, Communicator& ranks, const ProbeCommand& options,
                               const ProbeJournal& journal);
// The same of GPUs, with these tools.
[[nodiscard]] Measured measure_gpus(const GpuTools& tools, Communicator& ranks, const ProbeCommand& options,
                                    const ProbeJournal& journal);

}  // namespace sextant::cli
