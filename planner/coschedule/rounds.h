// Rounds of turns in which every iteration may take another time: what happens if lengths are drawn, and what a Gantt
// chart shows. Members take their turns in their order on every node; a phase begins as soon as it can.
#pragma once

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

// Takes one round after the other.
class Rounds {
 public:
  explicit Rounds(const Group& group);
  // The next round, by member.
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
  std::vector<Node> nodes_;
  std::vector<double> ready_s_;  // by member: its weights are on the rollout nodes
  double training_free_s_ = 0, link_free_s_ = 0;
};

}  // namespace sextant::coschedule
