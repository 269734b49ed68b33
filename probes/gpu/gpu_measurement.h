// One point of a GPU through the harness, with the device's state beside every sample; and what follows from
// several points.
#pragma once

#include <vector>

#include "probes/gpu/gpu_points.h"
#include "probes/gpu/libraries/gpu_sensors.h"
#include "probes/harness/probe_result.h"

namespace sextant {

// Waived when the device cannot do it, failed (with the reason, and without a value) when an operation throws
// or leaves wrong data: one bad point must not hide the others. Throttled samples are kept and marked: a card
// at its power limit is what a job gets.
[[nodiscard]] ProbeResult measure_gpu_point(const GpuPoint& point, GpuDevices& devices, const GpuFacts& gpu,
                                            GpuSensors& sensors, const SamplingOptions& sampling,
                                            const Clock& clock);

// "memory/copy" and "memory/read" are the best of their variants; "launch/graph/per_node" is what each node of
// a graph adds: (long graph - graph of one) / nodes between. Nothing where a part is missing.
[[nodiscard]] std::vector<ProbeResult> derive_gpu_results(const std::vector<ProbeResult>& results);

}  // namespace sextant
