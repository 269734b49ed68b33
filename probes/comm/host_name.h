// What the host of a rank is called.
#pragma once

#include <string>

#include "probes/comm/lone_rank.h"

namespace sextant {

// Where hosts have no names of their own (containers that are all called alike), each rank can be given its
// host's: mpirun -x, or srun --export. Ranks of one name are taken to share a host.
inline constexpr const char* kHostNameVariable = "SEXTANT_HOST_NAME";

// What that variable says, else `own`.
[[nodiscard]] std::string host_name(const Environment& environment, const std::string& own);

}  // namespace sextant
