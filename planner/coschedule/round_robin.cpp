#include "planner/coschedule/round_robin.h"

#include <algorithm>
#include <numeric>

#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

enum PhaseKind { rollout, training, sync, tail };

bool has_tails(const std::vector<Phases>& phases) {
  return std::any_of(phases.begin(), phases.end(), [](const Phases& of) { return of.tail_s > 0; });
}

// The share of a node's workers on which the member's tail goes on; `nth` of its nodes, from 0.
double tail_share(const Phases& phases, std::size_t nth) {
  return phases.tail_s > 0 ? std::clamp(phases.tail_nodes - static_cast<double>(nth), 0.0, 1.0) : 0.0;
}

struct Edge {
  int from = 0, to = 0;
  double weight_s = 0;  // of the phase that ends where the edge begins
  int rounds = 0;       // that it crosses
};

// The timed event graph of a group whose members take turns in one order. Its nodes are the phases of each turn.
class EventGraph {
 public:
  EventGraph(const Group& group, const std::vector<Phases>& phases, const std::vector<int>& order)
      : phases_(phases),
        order_(order),
        kinds_(has_tails(phases) ? tail + 1 : sync + 1),
        nodes_(static_cast<int>(order.size()) * kinds_) {
    const int turns = static_cast<int>(order.size());
    add_turns(training);
    add_turns(sync);
    for (int node = 0; node < group.rollout_nodes; ++node) add_rollouts(group, node);
    for (int turn = 0; turn < turns; ++turn) {
      if (phases_of_turn(turn).tail_s > 0) {
        add(turn, rollout, turn, tail, 0);
        add(turn, tail, turn, training, 0);
      } else {
        add(turn, rollout, turn, training, 0);
      }
      add(turn, training, turn, sync, 0);
      int next = turn + 1;  // of the same member
      while (member_of(next % turns) != member_of(turn)) ++next;
      add(turn, sync, next % turns, rollout, next / turns);
    }
    lengthen();
  }

  // The maximum of the cycles' ratios, from a lower bound of it, and starts with which it is reached.
  double min_period_s(double at_least_s, std::vector<double>& starts) const {
    double period_s = at_least_s;
    while (const std::optional<double> ratio = ratio_of_violated_cycle(period_s, starts)) period_s = *ratio;
    return period_s;
  }

 private:
  [[nodiscard]] int member_of(int turn) const { return order_[static_cast<std::size_t>(turn)]; }
  [[nodiscard]] const Phases& phases_of_turn(int turn) const {
    return phases_[static_cast<std::size_t>(member_of(turn))];
  }

  void add(int from, PhaseKind kind, int to, PhaseKind next, int rounds) {
    const Phases& of = phases_of_turn(from);
    const double weight_s = kind == rollout    ? of.rollout_s
                            : kind == training ? of.training_s
                            : kind == sync     ? of.sync_s
                                               : of.tail_s;
    edges_.push_back({from * kinds_ + kind, to * kinds_ + next, weight_s, rounds});
  }

  struct User {
    int turn;
    double tail_share;  // of the node's workers
  };

  void add_rollouts(const Group& group, int node) {
    std::vector<User> users;
    for (int turn = 0; turn < static_cast<int>(order_.size()); ++turn) {
      const std::vector<int>& pinned = group.members[static_cast<std::size_t>(member_of(turn))].rollout_nodes;
      const auto found = std::lower_bound(pinned.begin(), pinned.end(), node);
      if (found == pinned.end() || *found != node) continue;
      const auto nth = static_cast<std::size_t>(found - pinned.begin());
      users.push_back({turn, tail_share(phases_of_turn(turn), nth)});
    }
    const std::size_t count = users.size();
    for (std::size_t i = 0; i < count && count > 1; ++i) {
      const User &of = users[i], &next = users[(i + 1) % count];
      const int rounds = i + 1 == count ? 1 : 0;
      add(of.turn, of.tail_share == 1 ? tail : rollout, next.turn, rollout, rounds);
      if (of.tail_share <= 0 || of.tail_share == 1) continue;
      if (next.tail_share > 0) add(of.turn, tail, next.turn, tail, rounds);
      if (count > 2) add(of.turn, tail, users[(i + 2) % count].turn, rollout, i + 2 >= count ? 1 : 0);
      // A member's own next rollout begins after its training.
      if (member_of(of.turn) != member_of(next.turn)) note_loss(of, next.turn);
    }
  }

  // The next rollout runs on the other workers of the node, with larger batches, until the tail has ended.
  void note_loss(const User& of, int next) {
    const double share = phases_of_turn(next).batch_share;
    const double slower = 1 - share + share / (1 - of.tail_share);
    const double loss_s = phases_of_turn(of.turn).tail_s * (1 - 1 / slower);
    for (Loss& loss : losses_) {
      if (loss.from != of.turn || loss.turn != next) continue;
      loss.seconds = std::max(loss.seconds, loss_s);  // on several nodes at the same time
      return;
    }
    losses_.push_back({of.turn, next, loss_s});
  }

  void lengthen() {
    for (const Loss& loss : losses_) {
      for (Edge& edge : edges_) {
        if (edge.from == loss.turn * kinds_ + rollout) edge.weight_s += loss.seconds;
      }
    }
  }

  void add_turns(PhaseKind kind) {
    const int turns = static_cast<int>(order_.size());
    for (int turn = 0; turn < turns && turns > 1; ++turn)
      add(turn, kind, (turn + 1) % turns, kind, turn + 1 == turns ? 1 : 0);
  }

  // The longest paths if no cycle is longer than its rounds times the period; else the ratio of one that is.
  [[nodiscard]] std::optional<double> ratio_of_violated_cycle(double period_s,
                                                              std::vector<double>& starts) const {
    const double rounding = 1e-12 * period_s;
    starts.assign(static_cast<std::size_t>(nodes_), 0.0);
    std::vector<const Edge*> best(static_cast<std::size_t>(nodes_), nullptr);
    const auto at = [](int node) { return static_cast<std::size_t>(node); };
    int changed = -1;
    for (int pass = 0; pass <= nodes_; ++pass) {
      changed = -1;
      for (const Edge& edge : edges_) {
        const double start = starts[at(edge.from)] + edge.weight_s - edge.rounds * period_s;
        if (start <= starts[at(edge.to)] + rounding) continue;
        starts[at(edge.to)] = start;
        best[at(edge.to)] = &edge;
        changed = edge.to;
      }
      if (changed < 0) return std::nullopt;
    }
    for (int i = 0; i < nodes_; ++i) changed = best[at(changed)]->from;  // to the cycle
    double weight_s = 0;
    int rounds = 0, node = changed;
    do {
      const Edge& edge = *best[at(node)];
      weight_s += edge.weight_s;
      rounds += edge.rounds;
      node = edge.from;
    } while (node != changed);
    SEXTANT_CHECK(rounds > 0);
    return weight_s / rounds;
  }

  struct Loss {
    int from, turn;
    double seconds;
  };

  const std::vector<Phases>& phases_;
  const std::vector<int>& order_;
  int kinds_, nodes_;
  std::vector<Edge> edges_;
  std::vector<Loss> losses_;  // of rollouts beside a tail
};

Turns turns_of(const Group& group, const std::vector<Phases>& phases, const std::vector<int>& order,
               double at_least_s) {
  std::vector<double> starts;
  Turns turns{EventGraph(group, phases, order).min_period_s(at_least_s, starts), order, {}, {}, {}, {}};
  const bool with_tails = has_tails(phases);
  const std::size_t kinds = with_tails ? tail + 1 : sync + 1;
  const double first = starts[rollout];
  for (std::size_t m = 0; m < phases.size(); ++m) {
    const auto turn =
        static_cast<std::size_t>(std::find(order.begin(), order.end(), static_cast<int>(m)) - order.begin());
    turns.rollout_start_s.push_back(starts[turn * kinds + rollout] - first);
    turns.training_start_s.push_back(starts[turn * kinds + training] - first);
    turns.sync_start_s.push_back(starts[turn * kinds + sync] - first);
    if (with_tails) turns.tail_start_s.push_back(starts[turn * kinds + tail] - first);
  }
  return turns;
}

}  // namespace

std::vector<Phases> phases_of(const Group& group) {
  std::vector<int> users(static_cast<std::size_t>(group.rollout_nodes), 0);
  for (const Member& member : group.members) {
    for (const int node : member.rollout_nodes) ++users[static_cast<std::size_t>(node)];
  }
  std::vector<Phases> all;
  for (const Member& member : group.members) {
    const Job& job = member.job;
    const bool shares = std::any_of(member.rollout_nodes.begin(), member.rollout_nodes.end(),
                                    [&](int node) { return users[static_cast<std::size_t>(node)] > 1; });
    Phases phases{job.rollout_s, job.training_s_on(group.training_nodes), job.sync_s};
    if (shares) phases.rollout_s += job.rollout_warm_start_s;
    if (group.members.size() > 1) phases.training_s += job.training_warm_start_s;
    all.push_back(phases);
  }
  return all;
}

bool shares_rollout_nodes(const Group& group, std::size_t member) {
  const std::vector<int>& own = group.members[member].rollout_nodes;
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    if (m == member) continue;
    const std::vector<int>& other = group.members[m].rollout_nodes;
    const bool shares = std::any_of(
        own.begin(), own.end(), [&](int node) { return std::binary_search(other.begin(), other.end(), node); });
    if (shares) return true;
  }
  return false;
}

double at_least_s(const Group& group, const std::vector<Phases>& phases, const std::vector<int>& counts) {
  std::vector<double> nodes(static_cast<std::size_t>(group.rollout_nodes), 0.0);
  double longest_s = 0, training_s = 0, sync_s = 0;
  for (std::size_t m = 0; m < phases.size(); ++m) {
    const Phases& of = phases[m];
    training_s += counts[m] * of.training_s;
    sync_s += counts[m] * of.sync_s;
    longest_s = std::max(longest_s, counts[m] * (of.rollout_s + of.tail_s + of.training_s + of.sync_s));
    for (const int node : group.members[m].rollout_nodes)
      nodes[static_cast<std::size_t>(node)] += counts[m] * of.rollout_s;
  }
  return std::max({longest_s, training_s, sync_s, *std::max_element(nodes.begin(), nodes.end())});
}

Turns turns_of_phases(const Group& group, const std::vector<Phases>& phases, const std::vector<int>& order) {
  SEXTANT_CHECK(order.size() >= phases.size() && !order.empty());
  std::vector<int> counts(phases.size(), 0);
  for (const int member : order) ++counts.at(static_cast<std::size_t>(member));
  return turns_of(group, phases, order, at_least_s(group, phases, counts));
}

Turns turns_in_order(const Group& group, const std::vector<int>& order) {
  return turns_of_phases(group, phases_of(group), order);
}

Turns planned_turns(const Group& group) { return turns_in_order(group, meta_iteration(group)); }

Turns best_turns(const Group& group, double sufficient_s) {
  const std::vector<Phases> phases = phases_of(group);
  const double minimum_s = at_least_s(group, phases, std::vector<int>(phases.size(), 1));
  std::vector<int> order(phases.size());
  std::iota(order.begin(), order.end(), 0);
  Turns best = turns_of(group, phases, order, minimum_s);
  constexpr std::size_t kFew = 5;
  constexpr double kEqual = 1e-12;  // relative
  if (phases.size() > kFew) return best;
  while (best.period_s > std::max(sufficient_s, minimum_s * (1 + kEqual)) &&
         std::next_permutation(order.begin() + 1, order.end())) {
    Turns turns = turns_of(group, phases, order, minimum_s);
    if (turns.period_s < best.period_s) best = std::move(turns);
  }
  return best;
}

}  // namespace sextant::coschedule
