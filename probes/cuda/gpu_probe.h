// Rates of this host's GPUs, one after another, with the same harness as everything else.
#pragma once

#include <string>
#include <vector>

#include "probes/cuda/gpu_devices.h"
#include "probes/harness/probe_context.h"
#include "probes/harness/probe_result.h"

namespace sextant {

struct GpuProbeOptions {
  double budget_s_per_point = 0.4;
  double target_spread_fraction = 0.02;
};

struct GpuProbe {
  // measured, noisy or failed as the worst of the results; waived when there is no GPU to measure.
  ProbeOutcome outcome = ProbeOutcome::waived;
  std::string sentence;
  std::string versions;
  std::vector<GpuFacts> devices;
  // "gemm/bf16/4096", "memory/copy", "memory/read"; `rank` is the GPU's index.
  std::vector<ProbeResult> results;
};

// GEMM in fp32, tf32, bf16 and fp16 at several sizes, copy and read of device memory. Samples are at least a
// millisecond, so that what the host adds to a batch is small.
[[nodiscard]] GpuProbe probe_gpus(GpuDevices& devices, const GpuProbeOptions& options = {},
                                  const Clock& clock = steady_clock());

// Of the devices that this build knows.
[[nodiscard]] GpuProbe probe_gpus(const GpuProbeOptions& options = {});

}  // namespace sextant
