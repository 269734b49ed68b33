// Messages to and fro between two ranks; one leads and times, the other follows.
#pragma once

#include <cstddef>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/harness/probe_context.h"
#include "probes/harness/probe_result.h"

namespace sextant {

// The leader's side for messages of one size: "link/<bytes>" in s, one way.
[[nodiscard]] ProbeResult lead_ping_pong(Communicator& world, int follower, std::size_t bytes,
                                         const ProbeContext& context);

// The follower's side: answers until the leader has enough.
void follow_ping_pong(Communicator& world, int leader, std::size_t bytes);

}  // namespace sextant
