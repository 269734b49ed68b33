// Helpers shared by the methods of measuring the GPUs of a job's ranks (gpu_ranks.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/gathering/device_gathering.h"
#include "probes/gpu/gpu_ranks.h"

namespace sextant::inline probes {

[[nodiscard]] std::vector<std::string> bus_ids(const std::vector<GpuFacts>& gpus);
[[nodiscard]] GpuPlace place_of(const GpuTools& tools, const GpuFacts& gpu, const std::string& host,
                                const std::vector<std::string>& of_host);
[[nodiscard]] KindOfPair kinds_of(std::vector<GpuPlace> places);
[[nodiscard]] KindOfPair kinds_of(const std::vector<RankReport>& reports);
[[nodiscard]] RankReport report_of(const GpuProbe& probe, const GpuFacts& gpu, const GpuPlace& place,
                                   const GpuTools& tools);

// Returns options in which each point also reports a step.
[[nodiscard]] GpuProbeOptions with_steps(GpuProbeOptions options, const ProbeHooks& hooks);

// Returns the maximum silence of a rank, and the time until all meet, if each measures `gpus` GPUs.
[[nodiscard]] LivenessBarrier::Limits gpu_limits(const GpuClusterOptions& options, int gpus);

// Passes points to their hook: those of a device and copies, or those of NCCL between two.
void hand_over(const std::vector<ProbeResult>& points, const ProbeHooks& hooks);

// Returns the results with other numbers: `number` of a rank, and of a peer if there is one.
[[nodiscard]] std::vector<ProbeResult> renumbered(std::vector<ProbeResult> results,
                                                  const std::function<int(int)>& number);
// Returns the results of `count` ranks from `first` on, renumbered from 0; pairs need both ranks among them.
[[nodiscard]] std::vector<ProbeResult> numbered_from(const std::vector<ProbeResult>& results, int first,
                                                     int count);

// Returns NCCL's options, in which each point also reports a step.
[[nodiscard]] CollectiveOptions with_common_steps(CollectiveOptions options, const ProbeHooks& hooks);

}  // namespace sextant::inline probes
