// Communicators of which a rank was lost: to end one takes all of its ranks.
#pragma once

#include <memory>

#include "probes/comm/communicator.h"

namespace sextant {

// Never ended: it stays for as long as the process does.
void keep_for_good(std::unique_ptr<Communicator> ranks);

}  // namespace sextant
