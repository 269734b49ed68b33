// Ranks that are threads of this process: for one process that drives several GPUs, one thread each.
#pragma once

#include <functional>

#include "probes/comm/communicator.h"

namespace sextant {

// Runs `work` on `ranks` threads, each with its communicator, and waits for all. When one throws, calls of the
// others that wait for it throw too, and its exception is thrown here (of several, that of the first to fail).
void run_on_threads(int ranks, const std::function<void(Communicator& world)>& work);

}  // namespace sextant
