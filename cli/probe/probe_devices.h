// sextant probe without --hosts: chooses the devices to measure, GPUs or cores.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/probe/probe_command.h"
#include "core/json_value.h"
#include "probes/comm/communicator.h"
#include "probes/gpu/gpu_devices.h"
#include "probes/gpu/gpu_ranks.h"

namespace sextant::cli {

// The measured results, and the text for people about them.
struct Measured {
  ClusterProbe probe;
  std::string text;
  Json more_samples = Json::object();  // further members of the samples file
};

// The devices that are measured.
struct Target {
  std::unique_ptr<GpuDevices> gpus;  // null: cores
  std::string no_gpus;               // the reason, if GPUs were looked for
};

using MakeGpuDevices = std::function<std::unique_ptr<GpuDevices>()>;

// `wanted`: --devices. Collective. Throws Error(machine) if GPUs were requested and there is none.
[[nodiscard]] Target find_target(Communicator& ranks, const std::string& wanted,
                                 const MakeGpuDevices& make_devices = make_gpu_devices);

// Collective.
[[nodiscard]] Measured measure(const Target& target, Communicator& ranks, const ProbeCommand& options);
// Like measure, for GPUs, with these tools.
[[nodiscard]] Measured measure_gpus(const GpuTools& tools, Communicator& ranks, const ProbeCommand& options);

}  // namespace sextant::cli
