#include "planner/coschedule/check_placement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/units.h"
#include "planner/coschedule/chance.h"

namespace sextant::coschedule {
namespace {

constexpr double kTolerance = 1e-6;  // relative

struct Clock {
  std::map<int, double> node_free_s;
  double training_free_s = 0, link_free_s = 0;
};

// Returns the bytes of suspended phases that the node's host holds.
double held_bytes(const Group& group, int node) {
  double bytes = 0;
  for (const Member& member : group.members) {
    if (std::count(member.rollout_nodes.begin(), member.rollout_nodes.end(), node) > 0)
      bytes += member.job.rollout_host_bytes;
  }
  return bytes;
}

void check_group(const Group& group, const Pools& pools, bool is_certain, std::vector<std::string>& broken) {
  const auto add = [&](const std::string& what) { broken.push_back("group " + group.name + ": " + what); };
  if (static_cast<int>(group.members.size()) > pools.max_members)
    add(std::to_string(group.members.size()) + " jobs, at most " + std::to_string(pools.max_members) +
        " are allowed");
  for (int node = 0; node < group.rollout_nodes; ++node) {
    const double held = held_bytes(group, node);
    if (pools.rollout.host_memory_bytes > 0 && held > pools.rollout.host_memory_bytes * (1 + kTolerance))
      add("rollout node " + std::to_string(node) + " holds " + format_bytes(held) + " of suspended phases");
  }
  double training_bytes = 0;
  for (const Member& member : group.members) training_bytes += member.job.training_host_bytes;
  if (pools.training.host_memory_bytes > 0 &&
      training_bytes > pools.training.host_memory_bytes * (1 + kTolerance))
    add("each training node holds " + format_bytes(training_bytes) + " of suspended phases");
  for (const Member& member : group.members) {
    const Job& job = member.job;
    const std::set<int> nodes(member.rollout_nodes.begin(), member.rollout_nodes.end());
    if (static_cast<int>(nodes.size()) != job.rollout_nodes || *nodes.begin() < 0 ||
        *nodes.rbegin() >= group.rollout_nodes)
      add(job.name + " is not pinned to " + std::to_string(job.rollout_nodes) + " of its rollout nodes");
    if (job.training_nodes > group.training_nodes)
      add(job.name + " needs " + std::to_string(job.training_nodes) + " training nodes");
  }
  if (!is_certain) return;
  const std::vector<double> iteration_s = simulated_iterations_s(group);
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Job& job = group.members[m].job;
    const double period_s = iteration_s[m], alone_s = job.rollout_s + job.training_s + job.sync_s;
    if (period_s > job.max_slowdown * alone_s * (1 + kTolerance))
      add("an iteration of " + job.name + " takes " + format_seconds(period_s) + ", alone " +
          format_seconds(alone_s) + ", and may be slowed down by a factor of " +
          std::to_string(job.max_slowdown));
  }
}

// Other draws than those of the placement: shares differ by chance, by up to three standard errors.
void check_chances(const Group& group, const Placement& placement, std::vector<std::string>& broken) {
  const double probability = placement.probability;
  if (group.members.size() == 1) return;
  ChanceRules rules;
  rules.iterations = 400;
  rules.seed = 77;
  const double error = 3 * std::sqrt(probability * (1 - probability) * (1.0 / 200 + 1.0 / rules.iterations));
  const KeptShares chance = DrawnIterations(rules).of(group, placement.tail_threshold);
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    if (chance.kept_fraction[m] + error >= probability) continue;
    broken.push_back("group " + group.name + ": " + group.members[m].job.name + " keeps its promise in " +
                     format_percent(chance.kept_fraction[m]) + " of its iterations" +
                     (placement.tail_threshold > 0 ? " with tails that move" : " with tails that stay") + ", " +
                     format_percent(probability) + " are promised");
  }
}

}  // namespace

namespace {

struct SimulatedTurns {
  double period_s = 0;            // of a meta-iteration, mean
  std::vector<double> longest_s;  // iteration by member, from end to end
};

SimulatedTurns simulate_turns(const Group& group) {
  constexpr int kUnmeasured = 400, kMeasured = 400;
  std::map<int, int> users;
  for (const Member& member : group.members) {
    for (const int node : member.rollout_nodes) ++users[node];
  }
  std::vector<int> turns = group.turns;
  for (int m = 0; turns.size() < group.members.size(); ++m) turns.push_back(m);
  Clock clock;
  std::vector<double> ready_s(group.members.size(), 0.0);
  double before_s = 0, last_s = 0;
  SimulatedTurns simulated{0, std::vector<double>(group.members.size(), 0.0)};
  for (int round = 0; round < kUnmeasured + kMeasured; ++round) {
    for (const int turn : turns) {
      const auto m = static_cast<std::size_t>(turn);
      const Member& member = group.members[m];
      const Job& job = member.job;
      bool shares = false;
      double start_s = ready_s[m];
      for (const int node : member.rollout_nodes) {
        start_s = std::max(start_s, clock.node_free_s[node]);
        shares = shares || users[node] > 1;
      }
      const double rolled_s = start_s + job.rollout_s + (shares ? job.rollout_warm_start_s : 0.0);
      for (const int node : member.rollout_nodes) clock.node_free_s[node] = rolled_s;
      const double train_s = job.training_s * job.training_nodes / group.training_nodes +
                             (group.members.size() > 1 ? job.training_warm_start_s : 0.0);
      const double trained_s = std::max(rolled_s, clock.training_free_s) + train_s;
      clock.training_free_s = trained_s;
      clock.link_free_s = std::max(trained_s, clock.link_free_s) + job.sync_s;
      if (round >= kUnmeasured)
        simulated.longest_s[m] = std::max(simulated.longest_s[m], clock.link_free_s - ready_s[m]);
      ready_s[m] = clock.link_free_s;
    }
    last_s = *std::max_element(ready_s.begin(), ready_s.end());
    if (round + 1 == kUnmeasured) before_s = last_s;
  }
  simulated.period_s = (last_s - before_s) / kMeasured;
  return simulated;
}

}  // namespace

double simulated_period_s(const Group& group) { return simulate_turns(group).period_s; }

std::vector<double> simulated_iterations_s(const Group& group) {
  SimulatedTurns simulated = simulate_turns(group);
  if (group.turns.empty()) simulated.longest_s.assign(group.members.size(), simulated.period_s);
  return simulated.longest_s;
}

std::vector<std::string> broken_promises(const Placement& placement) {
  std::vector<std::string> broken;
  std::set<std::string> jobs;
  int rollout_nodes = 0, training_nodes = 0;
  for (const Group& group : placement.groups) {
    for (const Member& member : group.members) {
      if (!jobs.insert(member.job.name).second) broken.push_back("job " + member.job.name + " is placed twice");
    }
    rollout_nodes += group.rollout_nodes;
    training_nodes += group.training_nodes;
    check_group(group, placement.pools, placement.probability >= 1, broken);
    if (placement.probability < 1) check_chances(group, placement, broken);
  }
  const Pools& pools = placement.pools;
  if (pools.rollout.max_nodes > 0 && rollout_nodes > pools.rollout.max_nodes)
    broken.push_back(std::to_string(rollout_nodes) + " rollout nodes are used, the pool has " +
                     std::to_string(pools.rollout.max_nodes));
  if (pools.training.max_nodes > 0 && training_nodes > pools.training.max_nodes)
    broken.push_back(std::to_string(training_nodes) + " training nodes are used, the pool has " +
                     std::to_string(pools.training.max_nodes));
  return broken;
}

}  // namespace sextant::coschedule
