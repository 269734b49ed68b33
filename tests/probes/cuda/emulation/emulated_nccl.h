// NCCL over threads of one process and emulated device memory: a call completes at once, and it checks
// its arguments: memory of the device, in place only if NCCL allows it, receives that match their
// sends.
#pragma once

#include <cstddef>

namespace sextant::inline probes {

// From now on this rank receives data with a wrong last byte; -1: no rank does.
void emulated_nccl_spoil(int rank);
// Returns the number of communicators that were created and not destroyed.
int emulated_nccl_communicators();

}  // namespace sextant::inline probes
