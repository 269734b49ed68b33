// Rounds of turns in which every iteration may take another time: what happens if lengths are drawn, and what a Gantt
// chart shows. Members take their turns in their order on every node; a phase begins as soon as it can.
//
// A job that fits several times into a meta-iteration may run several times (repeated_turns), which WEAVE's Theorem 1
// excludes (round_robin.h). Promises are kept as simulated: no iteration of any member takes longer than it allows.
#pragma once

#include <optional>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/coschedule/round_robin.h"

namespace sextant::coschedule {

struct PhaseSpan {
  double begin_s = 0, end_s = 0;
  [[nodiscard]] double seconds() const { return end_s - begin_s; }
};

struct MemberRound {
  PhaseSpan rollout, tail, training, sync;  // tail: empty if it did not move
};

// Takes one meta-iteration after the other.
class Rounds {
 public:
  explicit Rounds(const Group& group);
  // The next meta-iteration by turn, with the phases of each member.
  [[nodiscard]] std::vector<MemberRound> next(const std::vector<Phases>& phases);

 private:
  struct Node {
    double free_s = 0;         // the last rollout has ended on all its workers but those of a tail
    double tail_end_s = 0;     // of the last tail
    double tail_before_s = 0;  // of the one before it, which the next rollout waits for
    double tail_share = 0;     // of the node's workers
    int users = 0;
  };

  [[nodiscard]] PhaseSpan roll_out(const Member& member, const Phases& phases, double ready_s) const;
  [[nodiscard]] PhaseSpan finish_tail(const Member& member, const Phases& phases, double rolled_s);

  const Group& group_;
  std::vector<int> turns_;
  std::vector<Node> nodes_;
  std::vector<double> ready_s_;  // by member: its weights are on the rollout nodes
  double training_free_s_ = 0, link_free_s_ = 0;
};

// Iterations of a member at the bounds, while its group runs as planned.
struct MemberIterations {
  int count = 1;  // in a meta-iteration
  double mean_s = 0;
  double longest_s = 0;  // from the end of one to the end of the next; the mean if every member has one turn
  double slowdown = 1;   // mean over the time alone
  double max_slowdown = 1;
};
[[nodiscard]] std::vector<MemberIterations> member_iterations(const Group& group);

// The sum over the members of the time that an iteration takes alone over what it takes here: the progress of all jobs,
// in jobs that run alone. `counts` are iterations in a meta-iteration of that period.
[[nodiscard]] double throughput(const Group& group, const std::vector<int>& counts, double period_s);

// The turns of a meta-iteration with the highest throughput in which some member runs more than once and every iteration
// takes at most what its job allows. Empty if none gains at least 1 % over one turn of each, or if those break a promise.
// Meta-iterations of up to 8 turns, or 3 more than members, are tried, and no more than a hundred orders.
[[nodiscard]] std::vector<int> repeated_turns(const Group& group);

}  // namespace sextant::coschedule
