// Helpers for tests that run on several ranks (link ranks_main.cpp).
#pragma once

#include "probes/comm/communicator.h"

namespace sextant::test {

[[nodiscard]] Communicator& world();

}  // namespace sextant::test
