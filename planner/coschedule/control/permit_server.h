// A permit server for the jobs of a group, on a Unix socket.
//
// A job is a connection; lines are requests and answers:
//   hello NAME          ok
//   acquire PHASE       granted, as soon as the nodes are the job's
//   progress SHARE      keep, or move: the tail should move to few workers, and others use the nodes from now on
//   release             ok
// A request that makes no sense is answered with "error REASON". If the connection ends, whatever the job held or waited
// for is free at once: the system closes it when a process ends, however it does. Only processes of the user who started
// the server are accepted: the socket is created with mode 0600, and the peer's user is asked of the system.
//
// A job that is alive but hangs keeps its permit no longer than a multiple of the phase's bound (max_overrun) after its last
// progress. Then the permit returns, the job is set aside, and its next request is answered with the reason as an error. A job
// that holds nothing and asks for nothing for as many bounds of its whole iteration counts as hung until it asks again.
//
// A job that came into the group after the server had started is served too: the server asks for the group as it is now,
// grants nothing until all permits are back, and goes on with that group.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "planner/coschedule/control/phase_log.h"

namespace sextant::coschedule {

// Bounds are of the longest responses already; a first phase may also load a model and compile kernels.
inline constexpr double kMaxOverrun = 10;

// The longest that the phase of a member may take on the group's nodes: its bound with the start of its states. If the job
// document says nothing about the transfer of weights, its bound is that of a whole iteration.
[[nodiscard]] double phase_bound_s(const Group& group, int member, Phase phase);
// All phases of an iteration of a member together.
[[nodiscard]] double iteration_bound_s(const Group& group, int member);

struct PermitServerOptions {
  ServingOrder order = ServingOrder::turns;
  double tail_threshold = 0.8;
  // After every member has been there once, and none is left but jobs that hang.
  bool ends_when_all_left = false;
  // A member that holds nothing and asks for nothing for so long is set aside while others wait (permit_queue.h).
  double patience_s = 10;
  // A phase that neither ends nor progresses for that many times its bound loses its permit, but never before patience_s.
  // 0: it keeps the permit for ever, and no job counts as hung.
  double max_overrun = kMaxOverrun;
  // Returns the group as it is now, nothing if there is none of its name. May throw Error. Empty: it never changes.
  std::function<std::optional<Group>()> latest_group = {};
  const std::atomic<bool>* is_cancelled = nullptr;
  std::function<void(const PhaseRecord&)> on_event = {};  // may be empty
  std::function<void()> on_ready = {};                    // when it listens; may be empty
};

struct ServedPermits {
  Group group;  // as it was last
  std::vector<PhaseRecord> log;
};

// Serves until it is cancelled or all have left. Throws Error(bad_input) if the path is too long or another server
// listens there, Error(machine) if the socket cannot be made. A socket that a killed server left is replaced.
[[nodiscard]] ServedPermits serve_permits(const Group& group, const std::filesystem::path& socket,
                                          const PermitServerOptions& options = {});

}  // namespace sextant::coschedule
