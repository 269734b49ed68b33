// Measures one point of a GPU with the harness and the device's state at every sample; derives results from
// several points.
#pragma once

#include <vector>

#include "probes/gpu/gpu_points.h"
#include "probes/gpu/libraries/gpu_sensors.h"
#include "probes/harness/probe_result.h"

namespace sextant::inline probes {

// Waived if the device does not support it, failed (with the reason, and without a value) if an operation
// throws or leaves wrong data: one bad point must not hide the others. Throttled samples are kept and marked,
// because a job also runs on a card at its power limit.
[[nodiscard]] ProbeResult measure_gpu_point(const GpuPoint& point, GpuDevices& devices, const GpuFacts& gpu,
                                            GpuSensors& sensors, const SamplingOptions& sampling,
                                            const Clock& clock);

// "memory/copy" and "memory/read" are the best of their variants; "launch/graph/per_node" is the cost of each
// node of a graph: (long graph - graph of one) / nodes between. Omitted if a part is missing.
[[nodiscard]] std::vector<ProbeResult> derive_gpu_results(const std::vector<ProbeResult>& results);

}  // namespace sextant::inline probes
