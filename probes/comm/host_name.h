// The name of a rank's host.
#pragma once

#include <string>

#include "probes/comm/lone_rank.h"

namespace sextant::inline probes {

// If hosts have no names of their own (containers with equal names), this variable gives each rank its host's
// name: mpirun -x, or srun --export. Ranks with equal names are assumed to share a host.
inline constexpr const char* kHostNameVariable = "SEXTANT_HOST_NAME";

// Returns the value of that variable, else `own`.
[[nodiscard]] std::string host_name(const Environment& environment, const std::string& own);

}  // namespace sextant::inline probes
