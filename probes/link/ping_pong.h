// Messages back and forth between two ranks; one leads and times, the other follows.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/harness/probe_context.h"
#include "probes/harness/probe_result.h"

namespace sextant::inline probes {

// The connection from this rank to the other.
struct PairLine {
  int peer = 0;
  std::string peer_name;  // "rank 3 on node7"
  int tag = 0;            // this one and the next two are reserved for the pair
  double limit_s = 30;    // for each wait
  // True ends a point with the samples so far; may be empty.
  std::function<bool()> should_stop = {};
};

// The leader's side: returns "link/<bytes>" in s, one way, for each size. If the other rank does not answer
// within the limit, that point has failed and is the last. Empty after a stop request.
[[nodiscard]] std::vector<ProbeResult> lead_ping_pong(Communicator& world, const PairLine& line,
                                                      const std::vector<std::size_t>& message_bytes,
                                                      const ProbeContext& context);

// The follower's side: answers until the leader has enough. Returns false if the leader was silent for longer
// than the limit.
[[nodiscard]] bool follow_ping_pong(Communicator& world, const PairLine& line);

}  // namespace sextant::inline probes
