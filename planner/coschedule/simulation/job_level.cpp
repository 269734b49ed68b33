#include "planner/coschedule/simulation/job_level.h"

#include <algorithm>
#include <cmath>

namespace sextant::coschedule {
namespace {

PhaseTimes bounds_of(const Job& job) { return {job.rollout_s, job.training_s, job.sync_s}; }

// The share of a kind of nodes that keeps the job's promise.
double needed_share(const Job& job, bool colocated) {
  const double iteration_s = colocated ? colocated_s(job, bounds_of(job)) : job.solo_s();
  return iteration_s / job.max_iteration_s();
}

bool is_of_kind(const Group& group, const Job& job, const Pools& pools) {
  const Job& other = group.members.front().job;
  return other.rollout_nodes == job.rollout_nodes && other.training_nodes == job.training_nodes &&
         is_cheaper_colocated(other, pools) == is_cheaper_colocated(job, pools);
}

double used_share(const Group& group, bool colocated) {
  double used = 0;
  for (const Member& member : group.members) used += needed_share(member.job, colocated);
  return used;
}

}  // namespace

double colocated_s(const Job& job, const PhaseTimes& times) {
  const double there_s = job.colocated_rollout_s > 0 ? job.colocated_rollout_s : job.rollout_s;
  return times.rollout_s * there_s / job.rollout_s + times.training_s;
}

int colocated_nodes(const Job& job) {
  const double needed = job.training_nodes * colocated_s(job, bounds_of(job)) / job.max_iteration_s();
  return std::max(job.training_nodes, static_cast<int>(std::ceil(needed * (1 - kRounding))));
}

bool is_cheaper_colocated(const Job& job, const Pools& pools) {
  const double share = needed_share(job, true);
  return share <= 1 + kRounding &&
         share * pools.usd_per_hour(0, job.training_nodes) < needed_share(job, false) * pools.usd_per_hour(job);
}

GroupUse colocated_use(const RunningGroup& running, const Pools&) {
  GroupUse use;
  for (std::size_t m = 0; m < running.times.size(); ++m) {
    const Job& job = running.group->members[m].job;
    const int nodes = colocated_nodes(job);
    use.iteration_s.push_back(colocated_s(job, running.times[m]) * job.training_nodes / nodes);
    use.training_nodes += nodes;
    use.training_busy_nodes += nodes;
  }
  return use;
}

GroupUse gavel_use(const RunningGroup& running, const Pools& pools) {
  const Group& group = *running.group;
  const Job& first = group.members.front().job;
  const bool colocated = is_cheaper_colocated(first, pools);
  GroupUse use;
  use.rollout_nodes = colocated ? 0 : first.rollout_nodes;
  use.training_nodes = first.training_nodes;
  const double used = used_share(group, colocated);
  for (std::size_t m = 0; m < running.times.size(); ++m) {
    const Job& job = group.members[m].job;
    const PhaseTimes& times = running.times[m];
    const double share = needed_share(job, colocated) / used;
    const double alone_s = colocated ? colocated_s(job, times) : times.solo_s();
    use.iteration_s.push_back(alone_s / share);
    use.rollout_busy_nodes += colocated ? 0 : share * times.rollout_s / alone_s * use.rollout_nodes;
    use.training_busy_nodes += share * (colocated ? 1 : times.training_s / alone_s) * use.training_nodes;
  }
  return use;
}

PlacementAnswer place_like_gavel(const Placement& placement, const Job& job) {
  PlacementAnswer answer;
  const Pools& pools = placement.pools;
  answer.refusal = why_not_alone(job, pools);
  if (!answer.refusal.empty()) return answer;
  answer.is_placed = true;
  const bool colocated = is_cheaper_colocated(job, pools);
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    const Group& group = placement.groups[g];
    if (static_cast<int>(group.members.size()) >= pools.max_members || !is_of_kind(group, job, pools) ||
        used_share(group, colocated) + needed_share(job, colocated) > 1 + kRounding ||
        !pools.training.holds(training_host_bytes(group) + job.training_host_bytes) ||
        !pools.rollout.holds(rollout_host_bytes(group, 0) + job.rollout_host_bytes))
      continue;
    answer.group = group;
    answer.at = g;
    answer.chosen.decision = Decision::packing;
    answer.group.members.push_back({job, group.members.front().rollout_nodes});
    return answer;
  }
  answer.group = group_alone(placement, job);
  answer.chosen.added_usd_per_hour = pools.usd_per_hour(colocated ? 0 : job.rollout_nodes, job.training_nodes);
  return answer;
}

}  // namespace sextant::coschedule
