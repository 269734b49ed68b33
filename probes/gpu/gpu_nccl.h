// NCCL between GPUs: pairs, then collectives.
#pragma once

#include <functional>
#include <vector>

#include "probes/collective/collective_probe.h"
#include "probes/comm/communicator.h"

namespace sextant::inline probes {

// Collective over the ranks: returns a library for this rank's GPU, or why there is none (equal on all ranks).
using MakeCollectives = std::function<CollectivesOrReason(Communicator& ranks, int gpu)>;

enum class NcclPart { all, pairs };

// Collective over ranks with a GPU each. The lower rank of a pair gets its results, the lowest rank of each
// group its collectives (options.places) with their bandwidths. Rank 0 has one waived result if there is no
// library or only one rank (for pairs alone: none).
[[nodiscard]] std::vector<ProbeResult> measure_nccl(Communicator& ranks, int gpu, const MakeCollectives& make,
                                                    const CollectiveOptions& options,
                                                    const Clock& clock = steady_clock(),
                                                    NcclPart part = NcclPart::all);

}  // namespace sextant::inline probes
