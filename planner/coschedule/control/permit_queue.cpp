#include "planner/coschedule/control/permit_queue.h"

#include <algorithm>
#include <array>

#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

constexpr std::array<std::string_view, 3> kPhases = {"rollout", "training", "sync"};

}  // namespace

std::string_view name_of(Phase phase) { return kPhases.at(static_cast<std::size_t>(phase)); }

std::optional<Phase> phase_named(std::string_view name) {
  const auto* found = std::find(kPhases.begin(), kPhases.end(), name);
  if (found == kPhases.end()) return std::nullopt;
  return static_cast<Phase>(found - kPhases.begin());
}

PermitQueue::PermitQueue(const Group& group, ServingOrder order, double tail_threshold)
    : group_(group),
      order_(order),
      tail_threshold_(tail_threshold),
      states_(group.members.size()),
      nodes_(static_cast<std::size_t>(group.rollout_nodes) + 2),
      turns_(meta_iteration(group)) {
  nodes_[nodes_.size() - 2].phase = Phase::training;
  nodes_.back().phase = Phase::sync;
}

std::vector<int> PermitQueue::nodes_of(int member, Phase phase) const {
  if (phase == Phase::rollout) return group_.members.at(static_cast<std::size_t>(member)).rollout_nodes;
  return {group_.rollout_nodes + (phase == Phase::training ? 0 : 1)};
}

bool PermitQueue::uses(int member, const Node& node, int number) const {
  const std::vector<int> nodes = nodes_of(member, node.phase);
  return std::find(nodes.begin(), nodes.end(), number) != nodes.end();
}

// Its first turn comes after all that have begun, so that nobody waits for a member that comes late.
void PermitQueue::join(int member) {
  of(member).is_there = true;
  of(member).turn = turn_from(member, next_turn_);
}

std::uint64_t PermitQueue::turn_from(int member, std::uint64_t turn) const {
  while (turns_[turn % turns_.size()] != member) ++turn;
  return turn;
}

// A rollout that follows a rollout, without training, is the next iteration.
std::uint64_t PermitQueue::rollout_turn(int member) const {
  const State& state = of(member);
  return state.has_rolled_out ? turn_from(member, state.turn + 1) : state.turn;
}

void PermitQueue::leave(int member) {
  give_back(member);
  of(member) = {};
  for (Node& node : nodes_) std::erase(node.queue, member);
}

bool PermitQueue::is_idle(int member) const {
  const State& state = of(member);
  return is_awaited(state) && !state.wanted && !state.held;
}

void PermitQueue::set_aside(int member) {
  if (is_idle(member)) of(member).is_aside = true;
}

void PermitQueue::take_back(int member) {
  if (release(member)) of(member).is_aside = true;
}

bool PermitQueue::request(int member, Phase phase) {
  State& state = of(member);
  if (state.wanted || state.held) return false;
  if (state.is_aside) {
    state.is_aside = false;
    // A rollout that it has made, and not trained on, keeps its turn of training.
    if (phase == Phase::rollout) {
      state.has_rolled_out = false;
      state.turn = turn_from(member, std::max(state.turn, next_turn_));
    }
  }
  state.wanted = phase;
  for (const int node : nodes_of(member, phase)) nodes_[static_cast<std::size_t>(node)].queue.push_back(member);
  return true;
}

void PermitQueue::give_back(int member) {
  for (Node& node : nodes_) {
    if (node.holder == member) node.holder.reset();
    if (node.tail == member) node.tail.reset();
  }
}

bool PermitQueue::release(int member) {
  State& state = of(member);
  if (!state.held) return false;
  give_back(member);
  state.held.reset();
  state.has_tail = false;
  return true;
}

bool PermitQueue::progress(int member, double ended_fraction) {
  State& state = of(member);
  if (state.held != Phase::rollout || state.has_tail || ended_fraction < tail_threshold_) return false;
  const std::vector<int> numbers = nodes_of(member, Phase::rollout);
  bool is_awaited = false;
  for (const int number : numbers) {
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    if (node.tail) return false;
    is_awaited = is_awaited || !node.queue.empty();
  }
  if (!is_awaited) return false;
  for (const int number : numbers) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    node.holder.reset();
    node.tail = member;
  }
  return state.has_tail = true;
}

// Jobs train in the order of their turns. The order of the requests would put the training node out of step with the
// rollout nodes, and then a job that repeats waits for the others. A member that has not rolled out is not waited for if
// each has one turn: another one's training takes nothing from it then.
bool PermitQueue::is_first_to_train(int member) const {
  const bool repeats = turns_.size() > states_.size();
  return std::none_of(states_.begin(), states_.end(), [&](const State& other) {
    return is_awaited(other) && (other.has_rolled_out || repeats) && other.turn < of(member).turn;
  });
}

bool PermitQueue::serves(int number, int member) const {
  const Node& node = nodes_[static_cast<std::size_t>(number)];
  if (node.holder) return false;
  if (order_ == ServingOrder::first_come || node.phase == Phase::sync) return node.queue.front() == member;
  if (node.phase == Phase::training) return is_first_to_train(member);
  // The member with the lowest turn of those that are there and use the node.
  for (int other = 0; other < static_cast<int>(states_.size()); ++other) {
    if (is_awaited(of(other)) && uses(other, node, number) && rollout_turn(other) < rollout_turn(member))
      return false;
  }
  return true;
}

std::vector<int> PermitQueue::granted() {
  std::vector<int> all;
  for (int member = 0; member < static_cast<int>(states_.size()); ++member) {
    State& state = of(member);
    if (!state.wanted) continue;
    const std::vector<int> numbers = nodes_of(member, *state.wanted);
    if (!std::all_of(numbers.begin(), numbers.end(), [&](int number) { return serves(number, member); }))
      continue;
    for (const int number : numbers) {
      Node& node = nodes_[static_cast<std::size_t>(number)];
      node.holder = member;
      std::erase(node.queue, member);
    }
    if (*state.wanted == Phase::rollout) {
      state.turn = rollout_turn(member);
      state.has_rolled_out = true;
      next_turn_ = std::max(next_turn_, state.turn + 1);
    }
    if (*state.wanted == Phase::training) {
      state.turn = turn_from(member, state.turn + 1);
      state.has_rolled_out = false;
    }
    state.held = state.wanted;
    state.wanted.reset();
    all.push_back(member);
  }
  return all;
}

}  // namespace sextant::coschedule
