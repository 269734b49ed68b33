#include "planner/coschedule/rounds.h"

#include <algorithm>

namespace sextant::coschedule {

Rounds::Rounds(const Group& group)
    : group_(group),
      nodes_(static_cast<std::size_t>(group.rollout_nodes)),
      ready_s_(group.members.size(), 0.0) {
  for (const Member& member : group.members) {
    for (const int node : member.rollout_nodes) ++nodes_[static_cast<std::size_t>(node)].users;
  }
}

// A rollout on several nodes ends on all of them together.
PhaseSpan Rounds::roll_out(const Member& member, const Phases& phases, double ready_s) const {
  PhaseSpan span{ready_s, 0};
  for (const int number : member.rollout_nodes) {
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    span.begin_s = std::max({span.begin_s, node.free_s, node.users > 2 ? node.tail_before_s : 0.0});
  }
  span.end_s = span.begin_s + phases.rollout_s;
  for (const int number : member.rollout_nodes) {
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    const double beside_s = node.tail_end_s - span.begin_s;
    if (beside_s <= 0) continue;
    const double slower = 1 - phases.batch_share + phases.batch_share / (1 - node.tail_share);
    const double end_s = beside_s >= phases.rollout_s * slower
                             ? span.begin_s + phases.rollout_s * slower
                             : node.tail_end_s + phases.rollout_s - beside_s / slower;
    span.end_s = std::max(span.end_s, end_s);
  }
  return span;
}

PhaseSpan Rounds::finish_tail(const Member& member, const Phases& phases, double rolled_s) {
  PhaseSpan span{rolled_s, rolled_s};
  double left = phases.tail_s > 0 ? phases.tail_nodes : 0;  // of the tail's nodes
  std::vector<double> shares;
  for (const int number : member.rollout_nodes) {
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    shares.push_back(std::clamp(left, 0.0, 1.0));
    left -= 1;
    if (shares.back() > 0) span.begin_s = std::max(span.begin_s, node.tail_end_s);
  }
  span.end_s = span.begin_s + phases.tail_s;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Node& node = nodes_[static_cast<std::size_t>(member.rollout_nodes[i])];
    node.free_s = shares[i] == 1 ? span.end_s : rolled_s;
    node.tail_before_s = node.tail_end_s;
    if (shares[i] <= 0 || shares[i] == 1) continue;
    node.tail_end_s = span.end_s;
    node.tail_share = shares[i];
  }
  return span;
}

std::vector<MemberRound> Rounds::next(const std::vector<Phases>& phases) {
  std::vector<MemberRound> round(phases.size());
  for (std::size_t m = 0; m < phases.size(); ++m) {
    const Member& member = group_.members[m];
    round[m].rollout = roll_out(member, phases[m], ready_s_[m]);
    round[m].tail = finish_tail(member, phases[m], round[m].rollout.end_s);
    const double trains_s = std::max(round[m].tail.end_s, training_free_s_);
    round[m].training = {trains_s, trains_s + phases[m].training_s};
    training_free_s_ = round[m].training.end_s;
    const double sends_s = std::max(training_free_s_, link_free_s_);
    round[m].sync = {sends_s, sends_s + phases[m].sync_s};
    link_free_s_ = ready_s_[m] = round[m].sync.end_s;
  }
  return round;
}

}  // namespace sextant::coschedule
