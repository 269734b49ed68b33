// NCCL over threads of one process and emulated device memory: what a call does it does at once, and it looks
// at what it is given: memory of the device, in place only where NCCL allows it, receives that match their
// sends.
#pragma once

#include <cstddef>

namespace sextant {

// What this rank gets from now on has a wrong last byte; -1: nobody's.
void emulated_nccl_spoil(int rank);
// Communicators that were made and not destroyed.
int emulated_nccl_communicators();

}  // namespace sextant
