// Communicators with a lost rank: freeing one requires all of its ranks.
#pragma once

#include <memory>

#include "probes/comm/communicator.h"

namespace sextant::inline probes {

// Keeps the communicator without freeing it, for the lifetime of the process.
void keep_for_good(std::unique_ptr<Communicator> ranks);

}  // namespace sextant::inline probes
