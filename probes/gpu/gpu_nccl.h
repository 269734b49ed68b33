// NCCL between GPUs: pairs, then collectives.
#pragma once

#include <functional>
#include <vector>

#include "probes/collective/collective_probe.h"
#include "probes/comm/communicator.h"

namespace sextant {

// Collective over the ranks: a library for this rank's GPU, or why there is none (the same on all ranks).
using MakeCollectives = std::function<CollectivesOrReason(Communicator& ranks, int gpu)>;

enum class NcclPart { all, pairs };

// Collective over ranks with a GPU each. Pairs come to their lower rank, collectives of growing groups
// (options.places) with their bandwidths to the lowest rank of each group. Rank 0 has one waived result where
// there is no library, or nobody to talk to (of pairs alone: none).
[[nodiscard]] std::vector<ProbeResult> measure_nccl(Communicator& ranks, int gpu, const MakeCollectives& make,
                                                    const CollectiveOptions& options,
                                                    const Clock& clock = steady_clock(),
                                                    NcclPart part = NcclPart::all);

// The same from one process, with a thread for each of `gpus`; rank r is the r-th of them. Never throws for a
// rank that failed: then the result says so.
[[nodiscard]] std::vector<ProbeResult> measure_nccl_in_threads(const std::vector<int>& gpus,
                                                               const MakeCollectives& make,
                                                               const CollectiveOptions& options,
                                                               const Clock& clock = steady_clock(),
                                                               NcclPart part = NcclPart::all);

}  // namespace sextant
