// NCCL as a library of collectives, one GPU per rank.
#pragma once

#include "probes/collective/collectives.h"
#include "probes/comm/communicator.h"

namespace sextant::inline probes {

// Collective over the ranks, each with a GPU of its own: `device` is CUDA's number in this process. Returns, on
// every rank, the library or the first rank's reason why there is none.
[[nodiscard]] CollectivesOrReason make_nccl_collectives(Communicator& ranks, int device);

}  // namespace sextant::inline probes
