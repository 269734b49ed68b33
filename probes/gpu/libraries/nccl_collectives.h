// NCCL as a library of collectives, one rank a GPU.
#pragma once

#include "probes/collective/collectives.h"
#include "probes/comm/communicator.h"

namespace sextant {

// Collective over the ranks, each with a GPU of its own: `device` as CUDA numbers it here. On every rank the
// library or the first rank's reason why there is none.
[[nodiscard]] CollectivesOrReason make_nccl_collectives(Communicator& ranks, int device);

}  // namespace sextant
