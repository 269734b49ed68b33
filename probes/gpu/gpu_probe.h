// Measures rates and latencies of this host's GPUs, one after another, with the common harness.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/gpu_devices.h"
#include "probes/gpu/gpu_points.h"
#include "probes/gpu/libraries/gpu_sensors.h"
#include "probes/harness/clock.h"
#include "probes/harness/probe_result.h"

namespace sextant::inline probes {

struct GpuProbeOptions {
  double budget_s_per_point = 0.4;
  double target_spread_fraction = 0.02;
  // The budget for each GPU, and again for its links: points that have not begun by then are waived.
  double total_budget_s = 50;
  GpuPointOptions points;
  // Measures only this GPU: for a rank that has a GPU of its own.
  std::optional<int> only_gpu;
  // Earlier measurements, by GPU, peer and name: those with a value, or waived by the device, are taken
  // over.
  std::vector<ProbeResult> done = {};
  // Called before each point; may be empty.
  std::function<void(const std::string& name)> on_point;
  // Called with each measured point as soon as it is available; may be empty.
  std::function<void(const ProbeResult& result)> on_result = {};
};

struct GpuProbe {
  // measured, noisy or failed as the worst of the results; waived if there is no GPU to measure.
  ProbeOutcome outcome = ProbeOutcome::waived;
  std::string sentence;
  std::string versions;
  // The reason why clocks, power and throttling are not recorded; empty if they are.
  std::string no_sensors;
  std::vector<GpuFacts> devices;
  // See gpu_points and derive_gpu_results; `rank` is the GPU's index. Links have a peer.
  std::vector<ProbeResult> results;
  double took_s = 0;
};

[[nodiscard]] GpuProbe probe_gpus(GpuDevices& devices, GpuSensors& sensors, const GpuProbeOptions& options = {},
                                  const Clock& clock = steady_clock());

// Measures the copies between these GPUs alone, which probe_gpus measures at its end.
[[nodiscard]] std::vector<ProbeResult> probe_gpu_links(GpuDevices& devices, const std::vector<GpuFacts>& gpus,
                                                       GpuSensors& sensors, const GpuProbeOptions& options,
                                                       const Clock& clock = steady_clock());

// Returns warnings with reason and advice: missing NVML, throttling, failed and noisy points.
[[nodiscard]] std::vector<std::string> warnings_of(const GpuProbe& probe);

}  // namespace sextant::inline probes
