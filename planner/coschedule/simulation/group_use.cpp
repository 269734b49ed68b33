#include "planner/coschedule/simulation/group_use.h"

#include <algorithm>

namespace sextant::coschedule {
namespace {

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

GroupUse use_of_turns(const RunningGroup& running, TailRule tails, double tail_threshold) {
  const Group& group = *running.group;
  const TailMoves moves = move_tails(running, tails, tail_threshold);
  const std::vector<int> counts = iterations_of(group);
  GroupUse use{{}, 1.0 * group.rollout_nodes, 1.0 * group.training_nodes, 0, 0};
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Phases& of = moves.phases[m];
    const double iteration_s = moves.period_s / counts[m];
    use.iteration_s.push_back(iteration_s);
    use.rollout_busy_nodes +=
        (of.rollout_s * group.members[m].job.rollout_nodes + of.tail_s * of.tail_nodes) / iteration_s;
    use.training_busy_nodes += of.training_s / iteration_s * group.training_nodes;
  }
  // A tail and the rollout beside it share a node, which both count.
  use.rollout_busy_nodes = std::min(use.rollout_busy_nodes, use.rollout_nodes);
  return use;
}

}  // namespace

GroupUse use_by_turns(const RunningGroup& running, TailRule tails, double tail_threshold) {
  if (running.group->turns.empty()) return use_of_turns(running, tails, tail_threshold);
  Group once = *running.group;
  once.turns.clear();
  RunningGroup running_once = running;
  running_once.group = &once;
  const GroupUse repeated = use_of_turns(running, tails, tail_threshold),
                 plain = use_of_turns(running_once, tails, tail_threshold);
  double gained = 0;
  for (std::size_t m = 0; m < running.times.size(); ++m) {
    const double alone_s = running.times[m].solo_s();
    if (repeated.iteration_s[m] > once.members[m].job.max_slowdown * alone_s * (1 + kRounding)) return plain;
    gained += alone_s / repeated.iteration_s[m] - alone_s / plain.iteration_s[m];
  }
  return gained > 0 ? repeated : plain;
}

void Account::add(const std::string& group, const GroupUse& use) {
  Sums& sums = groups_[group];
  sums = {0, use.rollout_nodes, use.training_nodes, use.rollout_busy_nodes, use.training_busy_nodes};
  sums.usd_per_hour = use.rollout_nodes * pools_.rollout.usd_per_node_hour() +
                      use.training_nodes * pools_.training.usd_per_node_hour();
  add(sums, 1);
}

void Account::remove(const std::string& group) {
  add(groups_.at(group), -1);
  groups_.erase(group);
}

void Account::pass(double seconds) {
  usd_ += usd_per_hour_ * seconds / 3600;
  rollout_paid_s_ += rollout_nodes_ * seconds;
  training_paid_s_ += training_nodes_ * seconds;
  rollout_busy_s_ += rollout_busy_ * seconds;
  training_busy_s_ += training_busy_ * seconds;
}

double Account::rollout_busy_fraction() const { return std::max(0.0, share_of(rollout_busy_, rollout_nodes_)); }
double Account::training_busy_fraction() const {
  return std::max(0.0, share_of(training_busy_, training_nodes_));
}
double Account::total_rollout_busy_fraction() const { return share_of(rollout_busy_s_, rollout_paid_s_); }
double Account::total_training_busy_fraction() const { return share_of(training_busy_s_, training_paid_s_); }

void Account::add(const Sums& sums, double sign) {
  usd_per_hour_ += sign * sums.usd_per_hour;
  rollout_nodes_ += sign * sums.rollout_nodes;
  training_nodes_ += sign * sums.training_nodes;
  rollout_busy_ += sign * sums.rollout_busy;
  training_busy_ += sign * sums.training_busy;
}

}  // namespace sextant::coschedule
