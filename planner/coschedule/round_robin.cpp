#include "planner/coschedule/round_robin.h"

#include <algorithm>
#include <numeric>

#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

enum PhaseKind { rollout, training, sync, kPhases };

struct Edge {
  int from = 0, to = 0;
  double weight_s = 0;  // of the phase that ends where the edge begins
  int rounds = 0;       // that it crosses
};

// The timed event graph of a group whose members take turns in one order.
class EventGraph {
 public:
  EventGraph(const Group& group, const std::vector<Phases>& phases, const std::vector<int>& order)
      : phases_(phases), nodes_(static_cast<int>(phases.size()) * kPhases) {
    for (int m = 0; m < static_cast<int>(phases.size()); ++m) {
      add(m, rollout, m, training, 0);
      add(m, training, m, sync, 0);
      add(m, sync, m, rollout, 1);
    }
    add_turns(training, order);
    add_turns(sync, order);
    for (int node = 0; node < group.rollout_nodes; ++node) {
      std::vector<int> users;
      for (const int m : order) {
        const std::vector<int>& pinned = group.members[static_cast<std::size_t>(m)].rollout_nodes;
        if (std::binary_search(pinned.begin(), pinned.end(), node)) users.push_back(m);
      }
      add_turns(rollout, users);
    }
  }

  // The maximum of the cycles' ratios, from a lower bound of it, and starts with which it is reached.
  double min_period_s(double at_least_s, std::vector<double>& starts) const {
    double period_s = at_least_s;
    while (const std::optional<double> ratio = ratio_of_violated_cycle(period_s, starts)) period_s = *ratio;
    return period_s;
  }

 private:
  void add(int from, PhaseKind kind, int to, PhaseKind next, int rounds) {
    const Phases& of = phases_[static_cast<std::size_t>(from)];
    const double weight_s = kind == rollout ? of.rollout_s : kind == training ? of.training_s : of.sync_s;
    edges_.push_back({from * kPhases + kind, to * kPhases + next, weight_s, rounds});
  }

  void add_turns(PhaseKind kind, const std::vector<int>& users) {
    for (std::size_t i = 0; i < users.size() && users.size() > 1; ++i)
      add(users[i], kind, users[(i + 1) % users.size()], kind, i + 1 == users.size() ? 1 : 0);
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

  const std::vector<Phases>& phases_;
  int nodes_;
  std::vector<Edge> edges_;
};

Turns turns_of(const Group& group, const std::vector<Phases>& phases, const std::vector<int>& order,
               double at_least_s) {
  std::vector<double> starts;
  Turns turns{EventGraph(group, phases, order).min_period_s(at_least_s, starts), order, {}, {}, {}};
  const double first = starts[static_cast<std::size_t>(order.front()) * kPhases + rollout];
  for (std::size_t m = 0; m < phases.size(); ++m) {
    turns.rollout_start_s.push_back(starts[m * kPhases + rollout] - first);
    turns.training_start_s.push_back(starts[m * kPhases + training] - first);
    turns.sync_start_s.push_back(starts[m * kPhases + sync] - first);
  }
  return turns;
}

// No period is shorter: of a resource or of one member.
double at_least_s(const Group& group, const std::vector<Phases>& phases) {
  double longest = load_s(group);
  for (const Phases& of : phases) longest = std::max(longest, of.rollout_s + of.training_s + of.sync_s);
  return longest;
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

Turns turns_in_order(const Group& group, const std::vector<int>& order) {
  const std::vector<Phases> phases = phases_of(group);
  SEXTANT_CHECK(order.size() == phases.size() && !order.empty());
  return turns_of(group, phases, order, at_least_s(group, phases));
}

Turns best_turns(const Group& group, double sufficient_s) {
  const std::vector<Phases> phases = phases_of(group);
  const double minimum_s = at_least_s(group, phases);
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
