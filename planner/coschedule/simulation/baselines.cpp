#include "planner/coschedule/simulation/baselines.h"

#include <algorithm>

#include "planner/coschedule/round_robin.h"

namespace sextant::coschedule {
namespace {

PlacementAnswer place_by_default(const Placement& placement, const Job& job, PolicyState&) {
  return place(placement, job);
}

PlacementAnswer place_once(const Placement& placement, const Job& job, PolicyState&) {
  PlacementRules rules;
  rules.may_repeat = false;
  return place(placement, job, rules);
}

PlacementAnswer place_by_chance(const Placement& placement, const Job& job, PolicyState& state) {
  PlacementRules rules;
  rules.drawn = &state.drawn;
  return place(placement, job, rules);
}

PlacementAnswer place_by_shares(const Placement& placement, const Job& job, PolicyState&) {
  return place_like_gavel(placement, job);
}

PlacementAnswer place_as_printed(const Placement& placement, const Job& job, PolicyState&) {
  return place(placement, job, PlacementRules::as_printed());
}

// Solo disaggregation: a group of its own.
PlacementAnswer place_alone(const Placement& placement, const Job& job, PolicyState&) {
  PlacementAnswer answer;
  answer.refusal = why_not_alone(job, placement.pools);
  if (!answer.refusal.empty()) return answer;
  answer.is_placed = true;
  answer.group = group_alone(placement, job);
  answer.chosen.new_rollout_nodes = job.rollout_nodes;
  answer.chosen.new_training_nodes = job.training_nodes;
  answer.chosen.added_usd_per_hour = answer.group.usd_per_hour(placement.pools);
  return answer;
}

// Whether the group has the nodes and the memory; not whether the job keeps up.
bool can_hold(const Group& group, const Job& job, const Pools& pools) {
  return static_cast<int>(group.members.size()) < pools.max_members &&
         job.training_nodes <= group.training_nodes && job.rollout_nodes <= group.rollout_nodes &&
         pools.training.holds(training_host_bytes(group) + job.training_host_bytes);
}

std::vector<int> nodes_that_hold(const Group& group, const Job& job, const Pools& pools) {
  std::vector<int> nodes;
  for (int node = 0; node < group.rollout_nodes; ++node) {
    if (pools.rollout.holds(rollout_host_bytes(group, node) + job.rollout_host_bytes)) nodes.push_back(node);
  }
  return nodes;
}

PlacementAnswer packed(const Placement& placement, std::size_t at, const Job& job, std::vector<int> nodes) {
  PlacementAnswer answer;
  answer.is_placed = true;
  answer.group = placement.groups[at];
  answer.at = at;
  answer.chosen.decision = Decision::packing;
  nodes.resize(static_cast<std::size_t>(job.rollout_nodes));
  std::sort(nodes.begin(), nodes.end());
  answer.group.members.push_back({job, std::move(nodes)});
  return answer;
}

PlacementAnswer place_at_random(const Placement& placement, const Job& job, PolicyState& state) {
  std::vector<std::size_t> possible;
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    const Group& group = placement.groups[g];
    if (can_hold(group, job, placement.pools) &&
        static_cast<int>(nodes_that_hold(group, job, placement.pools).size()) >= job.rollout_nodes)
      possible.push_back(g);
  }
  const std::size_t chosen = std::uniform_int_distribution<std::size_t>(0, possible.size())(state.random);
  if (chosen == possible.size()) return place_alone(placement, job, state);
  std::vector<int> nodes = nodes_that_hold(placement.groups[possible[chosen]], job, placement.pools);
  std::shuffle(nodes.begin(), nodes.end(), state.random);
  return packed(placement, possible[chosen], job, std::move(nodes));
}

// Share of the node-time of both pools in which a group's nodes wait.
double idle_fraction(const Group& group) {
  double busy_s = 0;
  const std::vector<Phases> phases = phases_of(group);
  for (std::size_t m = 0; m < phases.size(); ++m)
    busy_s +=
        phases[m].rollout_s * group.members[m].job.rollout_nodes + phases[m].training_s * group.training_nodes;
  const double period_s = std::max(load_s(group), cycle_s(group));
  return 1 - busy_s / (period_s * (group.rollout_nodes + group.training_nodes));
}

PlacementAnswer place_where_idle(const Placement& placement, const Job& job, PolicyState& state) {
  double most = 0;
  std::optional<std::size_t> best;
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    const Group& group = placement.groups[g];
    if (!can_hold(group, job, placement.pools) ||
        static_cast<int>(nodes_that_hold(group, job, placement.pools).size()) < job.rollout_nodes)
      continue;
    if (const double idle = idle_fraction(group); idle > most) {
      most = idle;
      best = g;
    }
  }
  if (!best) return place_alone(placement, job, state);
  const Group& group = placement.groups[*best];
  const std::vector<double> load = rollout_load_s(group);
  std::vector<int> nodes = nodes_that_hold(group, job, placement.pools);
  std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
    return load[static_cast<std::size_t>(a)] < load[static_cast<std::size_t>(b)];
  });
  return packed(placement, *best, job, std::move(nodes));
}

}  // namespace

const std::vector<Policy>& policies() {
  static const std::vector<Policy> all{
      {"weave", "default: the cheapest place that keeps every promise, of equal ones the tightest",
       place_by_default, false, 0, true, true},
      {"weave-repack", "the same, and running jobs are regrouped where that pays for their restarts",
       place_by_default, true, 0, true, true},
      {"weave-chance", "promises hold with --probability under the lengths of responses, not at their bounds",
       place_by_chance, false, 0, true, false, true},
      {"weave-once", "the default, with one iteration of each job in each meta-iteration", place_once, false, 0,
       true},
      {"weave-paper", "WEAVE's Algorithm 1 as printed", place_as_printed, false, 0, true},
      {"regroup-hourly", "WEAVE's Algorithm 1, and every hour all jobs are regrouped at their present lengths",
       place_as_printed, false, 3600},
      {"optimum", "offline: all jobs regrouped at every event for nothing, the cheapest of up to 16",
       place_once, false, 0, true, false, false, nullptr, true},
      {"most-idle", "the group whose nodes wait the most, whatever was promised", place_where_idle},
      {"random", "any group with the memory, or a new one, whatever was promised", place_at_random},
      {"solo", "a group of its own for every job", place_alone},
      {"colocated", "verl on the training pool alone, with as many nodes as keep the promise", place_alone,
       false, 0, false, false, false, colocated_use},
      {"gavel", "whole jobs get shares of the time of nodes, as many as they were promised", place_by_shares,
       false, 0, false, false, false, gavel_use},
  };
  return all;
}

const Policy* find_policy(std::string_view name) {
  const auto found = std::find_if(policies().begin(), policies().end(),
                                  [&](const Policy& policy) { return policy.name == name; });
  return found == policies().end() ? nullptr : &*found;
}

}  // namespace sextant::coschedule
