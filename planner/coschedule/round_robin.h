// Turns inside a group (section 4.3): in a turn a member has one rollout, one training phase and one transfer of
// weights. In a meta-iteration every member has a turn, and every node serves the turns in one cyclic order.
//
// The start of each phase is bound by the phases before it: R_j before T_j before S_j before the next R_j of the
// same job, and on each node, on the training pool and on the connection one phase after the other. In a periodic
// schedule phase v of round k starts at x_v + k P, and edge (u, v) that crosses h rounds demands
// x_v + h P >= x_u + w_u. The smallest P is the maximum of sum w / sum h over the cycles of this graph (a
// timed event graph; Baccelli et al. 1992, section 2.5). Cycles of one resource and of one job give
// max(T_load, T_cycle); with several rollout nodes others can be longer.
//
// The paper's Theorem 1 says that no schedule uses the pools better. With several rollout nodes it is false
// (tests/planner/coschedule/round_robin_test.cpp): a short job may fit twice. So orders may have several turns of
// a member: the graph has the phases of each turn.
#pragma once

#include <vector>

#include "planner/coschedule/group.h"

namespace sextant::coschedule {

struct Turns {
  double period_s = 0;     // of a meta-iteration: the iteration time of a member with one turn
  std::vector<int> order;  // positions of members, in the order of their turns on every resource
  // Start of the phases of a member's first turn in one meta-iteration, from the first one's rollout on.
  std::vector<double> rollout_start_s, training_start_s, sync_start_s;
  std::vector<double> tail_start_s;  // empty if no tail moves
};

// Phases of a member inside its group: with warm starts where it shares nodes. After its rollout, a tail may go on for
// tail_s on the workers of its first tail_nodes nodes, while the next rollouts begin on the others (tail.h).
struct Phases {
  double rollout_s = 0, training_s = 0, sync_s = 0;
  double tail_s = 0;
  double tail_nodes = 0;   // not necessarily whole
  double batch_share = 0;  // Responses::batch_share: how much slower a rollout is on fewer workers
};
// The bounds, in which all responses end together.
[[nodiscard]] std::vector<Phases> phases_of(const Group& group);

// Whether another member uses one of the member's rollout nodes.
[[nodiscard]] bool shares_rollout_nodes(const Group& group, std::size_t member);

// No meta-iteration in which each member runs that often is shorter: a node, a pool, the connection or one member alone
// needs that long.
[[nodiscard]] double at_least_s(const Group& group, const std::vector<Phases>& phases,
                                const std::vector<int>& counts);

// The smallest period with these phases for the order, in which members may have several turns, and the starts with
// which it is reached. A node has at most one
// tail at a time, and at most one other rollout. The rollout after a tail is lengthened by what it would lose if the
// whole tail overlapped it, so the period is never shorter than the true one.
[[nodiscard]] Turns turns_of_phases(const Group& group, const std::vector<Phases>& phases,
                                    const std::vector<int>& order);

// The smallest period at the bounds for that order of turns, and the starts with which it is reached.
[[nodiscard]] Turns turns_in_order(const Group& group, const std::vector<int>& order);
// The same for the group's meta-iteration.
[[nodiscard]] Turns planned_turns(const Group& group);

// The first order of one turn of each member with a period of at most `sufficient_s`, or the best of all: the members'
// order, then all others if they are at most five. Orders that begin with another member are the same cycle.
[[nodiscard]] Turns best_turns(const Group& group, double sufficient_s);

}  // namespace sextant::coschedule
