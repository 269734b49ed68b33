// Ranks as threads of this process: for one process that uses several GPUs, one thread each.
#pragma once

#include <functional>

#include "probes/comm/communicator.h"

namespace sextant::inline probes {

// Runs `work` on `ranks` threads, each with its communicator, and waits for all. If one throws, calls of the
// others that wait for it throw too, and its exception is rethrown here (the first failure, if several throw).
void run_on_threads(int ranks, const std::function<void(Communicator& world)>& work);

}  // namespace sextant::inline probes
