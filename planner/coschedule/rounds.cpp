#include "planner/coschedule/rounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::coschedule {

Rounds::Rounds(const Group& group)
    : group_(group),
      turns_(meta_iteration(group)),
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
  std::vector<MemberRound> rounds(turns_.size());
  for (std::size_t turn = 0; turn < turns_.size(); ++turn) {
    const auto m = static_cast<std::size_t>(turns_[turn]);
    const Member& member = group_.members[m];
    MemberRound& round = rounds[turn];
    round.rollout = roll_out(member, phases[m], ready_s_[m]);
    round.tail = finish_tail(member, phases[m], round.rollout.end_s);
    const double trains_s = std::max(round.tail.end_s, training_free_s_);
    round.training = {trains_s, trains_s + phases[m].training_s};
    training_free_s_ = round.training.end_s;
    const double sends_s = std::max(training_free_s_, link_free_s_);
    round.sync = {sends_s, sends_s + phases[m].sync_s};
    link_free_s_ = ready_s_[m] = round.sync.end_s;
  }
  return rounds;
}

namespace {

// Whether all phases of the meta-iterations have the same distances: what follows them has, too.
bool has_same_shape(const std::vector<MemberRound>& a, const std::vector<MemberRound>& b) {
  const double shift_s = b.front().sync.end_s - a.front().sync.end_s, tolerance_s = 1e-9 * (1 + shift_s);
  const auto same = [&](const PhaseSpan& x, const PhaseSpan& y) {
    return std::abs(y.end_s - x.end_s - shift_s) <= tolerance_s;
  };
  for (std::size_t turn = 0; turn < a.size(); ++turn) {
    if (!same(a[turn].rollout, b[turn].rollout) || !same(a[turn].training, b[turn].training) ||
        !same(a[turn].sync, b[turn].sync))
      return false;
  }
  return true;
}

// The longest time between the ends of two iterations, by member, once the meta-iterations repeat themselves. Empty if
// they do not soon.
std::vector<double> longest_iterations_s(const Group& group) {
  constexpr int kMaxRounds = 200;
  constexpr std::size_t kMaxCycle = 4;  // meta-iterations after which a group may repeat itself
  const std::vector<Phases> phases = phases_of(group);
  std::vector<std::vector<MemberRound>> taken;
  Rounds rounds(group);
  std::size_t cycle = 0;
  while (cycle == 0) {
    if (taken.size() == kMaxRounds) return {};
    taken.push_back(rounds.next(phases));
    for (std::size_t before = 1; before <= kMaxCycle && before < taken.size() && cycle == 0; ++before) {
      if (has_same_shape(taken[taken.size() - 1 - before], taken.back())) cycle = before;
    }
  }
  std::vector<double> longest_s(group.members.size(), 0.0), end_s(group.members.size(), 0.0);
  for (std::size_t round = taken.size() - 1 - cycle; round < taken.size(); ++round) {
    for (std::size_t turn = 0; turn < group.turns.size(); ++turn) {
      const auto m = static_cast<std::size_t>(group.turns[turn]);
      const double ends_s = taken[round][turn].sync.end_s;
      if (round >= taken.size() - cycle) longest_s[m] = std::max(longest_s[m], ends_s - end_s[m]);
      end_s[m] = ends_s;
    }
  }
  return longest_s;
}

// Tries numbers of iterations, the most promising first, and for each the orders of turns.
class Repetition {
 public:
  explicit Repetition(Group group) : group_(std::move(group)), phases_(phases_of(group_)) {
    group_.turns.clear();
    max_turns_ = std::max<int>(8, static_cast<int>(group_.members.size()) + 3);
  }

  std::vector<int> run() {
    constexpr double kMinGain = 0.01;
    const double period_s = planned_turns(group_).period_s;
    if (period_s > max_iteration_s(group_) * (1 + kRounding)) return {};
    const std::vector<int> once(phases_.size(), 1);
    best_ = throughput(group_, once, period_s) * (1 + kMinGain);
    add_counts(once, 0, static_cast<int>(once.size()));
    // Equals are tried from the fewest turns on.
    std::stable_sort(tries_.begin(), tries_.end(), [](const RepeatCounts& a, const RepeatCounts& b) {
      return std::pair(-a.max_throughput, a.turns) < std::pair(-b.max_throughput, b.turns);
    });
    for (const RepeatCounts& one : tries_) {
      if (one.max_throughput <= best_ * (1 + kRounding)) break;
      try_orders(one);
    }
    return best_turns_;
  }

 private:
  struct RepeatCounts {
    std::vector<int> counts;
    int turns;
    double min_period_s, max_throughput;  // the latter in steps of kRounding
  };

  // The longest meta-iteration that promises may allow.
  [[nodiscard]] double max_period_s(const std::vector<int>& counts) const {
    double shortest_s = std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < counts.size(); ++m)
      shortest_s = std::min(shortest_s, counts[m] * group_.members[m].job.max_iteration_s());
    return shortest_s * (1 + kRounding);
  }

  // Notes the counts that may gain something and differ from these from `member` on.
  void add_counts(std::vector<int> counts, std::size_t member, int turns) {
    for (std::size_t m = member; m < counts.size() && turns < max_turns_; ++m) {
      ++counts[m];
      const double period_s = at_least_s(group_, phases_, counts);
      const double bound = std::round(throughput(group_, counts, period_s) / kRounding) * kRounding;
      if (period_s <= max_period_s(counts) && bound > best_)
        tries_.push_back({counts, turns + 1, period_s, bound});
      add_counts(counts, m, turns + 1);
      --counts[m];
    }
  }

  // All cyclic orders, as they begin with the member of the fewest turns.
  void try_orders(const RepeatCounts& one) {
    const auto first = std::min_element(one.counts.begin(), one.counts.end()) - one.counts.begin();
    std::vector<int> order{static_cast<int>(first)};
    for (std::size_t m = 0; m < one.counts.size(); ++m) {
      const int left = one.counts[m] - (static_cast<std::ptrdiff_t>(m) == first ? 1 : 0);
      order.insert(order.end(), static_cast<std::size_t>(left), static_cast<int>(m));
    }
    do {
      if (--orders_left_ < 0) return;
      const double period_s = turns_of_phases(group_, phases_, order).period_s;
      const double gained = throughput(group_, one.counts, period_s);
      if (gained <= best_ * (1 + kRounding) || period_s > max_period_s(one.counts) || !keeps_promises(order))
        continue;
      best_ = gained;
      best_turns_ = order;
      if (period_s <= one.min_period_s * (1 + kRounding)) return;
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }

  [[nodiscard]] bool keeps_promises(const std::vector<int>& order) {
    group_.turns = order;
    const std::vector<double> longest_s = longest_iterations_s(group_);
    group_.turns.clear();
    for (std::size_t m = 0; m < longest_s.size(); ++m) {
      if (longest_s[m] > group_.members[m].job.max_iteration_s() * (1 + kRounding)) return false;
    }
    return !longest_s.empty();
  }

  Group group_;
  std::vector<Phases> phases_;
  int max_turns_ = 0, orders_left_ = 100;
  double best_ = 0;  // throughput that is to be exceeded
  std::vector<int> best_turns_;
  std::vector<RepeatCounts> tries_;
};

}  // namespace

std::vector<MemberIterations> member_iterations(const Group& group) {
  const double period_s = planned_turns(group).period_s;
  const std::vector<int> counts = iterations_of(group);
  const std::vector<double> longest_s =
      group.turns.empty() ? std::vector<double>{} : longest_iterations_s(group);
  std::vector<MemberIterations> all;
  for (std::size_t m = 0; m < counts.size(); ++m) {
    const double solo_s = group.members[m].job.solo_s(), mean_s = period_s / counts[m];
    // A group that does not repeat itself soon has its meta-iteration as bound.
    const double longest = longest_s.empty() ? period_s : std::max(mean_s, longest_s[m]);
    all.push_back({counts[m], mean_s, longest, mean_s / solo_s, longest / solo_s});
  }
  return all;
}

double throughput(const Group& group, const std::vector<int>& counts, double period_s) {
  double alone_s = 0;
  for (std::size_t m = 0; m < counts.size(); ++m) alone_s += counts[m] * group.members[m].job.solo_s();
  return alone_s / period_s;
}

std::vector<int> repeated_turns(const Group& group) {
  return group.members.size() < 2 ? std::vector<int>{} : Repetition(group).run();
}

}  // namespace sextant::coschedule
