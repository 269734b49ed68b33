// Replicas of one task that share a link (Trunk of sextant/cluster.h).
//
// Replica r moves b_r bytes over a trunk of capacity C in the time t_r that it takes while it has the link to
// itself. All of them together need at least B = sum over r of b_r / C, so a replica that uses the trunk takes
//   max(t_r, B)
// which is reached by replicas that compute while others send. Both directions of a trunk count together,
// because a replica's transfers in both follow each other. Pipeline transfers and rings of tensor-parallel and
// context-parallel groups that cross the trunk are counted; gradients and weights are reduced and sent by all
// replicas together, and count theirs themselves (collective.h, weight_transfer.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/context_parallel.h"
#include "costmodel/terms/pipeline_parallel.h"
#include "costmodel/terms/tensor_parallel.h"

namespace sextant::terms {

// Seconds at full capacity, by trunk, both directions together.
template <typename T>
using TrunkLoads = std::map<Trunk, T>;

// Returns the trunk without its direction: the lower number first.
[[nodiscard]] inline Trunk without_direction(Trunk trunk) {
  if (trunk.to < trunk.from) std::swap(trunk.from, trunk.to);
  return trunk;
}

// Returns the first trunk between the first member and another.
[[nodiscard]] inline std::optional<Trunk> trunk_of_ring(const Cluster& cluster,
                                                        std::span<const DeviceId> members) {
  for (const DeviceId member : members) {
    if (member == members.front()) continue;
    if (const auto trunk = cluster.trunk(members.front(), member)) return trunk;
  }
  return std::nullopt;
}

// Returns b_r / C of one replica. Empty on clusters without trunks.
template <typename T>
[[nodiscard]] TrunkLoads<T> trunk_loads(const Problem<T>& problem, const TaskWork& task, int of_class) {
  TrunkLoads<T> loads;
  const Cluster& cluster = problem.cluster();
  if (!cluster.has_trunks()) return loads;
  const T network = capacity_share(problem);
  const auto add = [&](const std::optional<Trunk>& trunk, double bytes, const T& reached) {
    if (trunk) loads[without_direction(*trunk)] += bytes / (trunk->bytes_per_s * network * reached);
  };
  const auto& replica =
      task.plan->replicas[static_cast<std::size_t>(task.classes[static_cast<std::size_t>(of_class)].replica)];
  for (int j = 0; j < replica.pipeline_parallel(); ++j) {
    const StageOfTask<T> stage{problem, task, of_class, j};
    if (!stage.is_last()) {
      const std::span<const DeviceId> from(stage.stage_plan().devices), to(stage.next_stage_plan().devices);
      const T& efficiency = problem.coefficient(CoefficientId::pipeline_parallel_efficiency);
      const auto [bytes, parts, gathered] = stage_transfer(stage, stage.stage_plan(), stage.next_stage_plan());
      const RingEdge way = fastest_link(problem, from, to, bytes / parts, efficiency, parts);
      if (way.from != way.to)
        add(cluster.trunk(way.from, way.to), stage.context_parallel() * stage_transfers(stage) * bytes,
            efficiency);
    }
    if (stage.tensor_parallel() > 1) {
      add(trunk_of_ring(cluster, stage.tensor_group()),
          stage.context_parallel() * tensor_parallel_count(stage) * tensor_parallel_volume_bytes(stage),
          T(1.0));
    }
    if (stage.context_parallel() > 1) {
      const std::vector<DeviceId> members = context_group(stage);
      add(trunk_of_ring(cluster, std::span<const DeviceId>(members)),
          stage.tensor_parallel() * context_transfers(stage) * context_volume_bytes(stage),
          problem.coefficient(CoefficientId::context_parallel_efficiency));
    }
  }
  return loads;
}

// Adds the load of another replica.
template <typename T>
void add_loads(TrunkLoads<T>& all, const TrunkLoads<T>& others) {
  for (const auto& [trunk, busy_s] : others) all[trunk] += busy_s;
}

// Returns the wait of a replica that takes time_s on its own, so that it takes the maximum above. `all` is the
// add_loads of every replica, including this one.
template <typename T>
[[nodiscard]] T trunk_wait_s(const TrunkLoads<T>& all, const TrunkLoads<T>& of_replica, const T& time_s) {
  T longest(0.0);
  for (const auto& [trunk, busy_s] : of_replica) {
    const T wait = all.at(trunk) - time_s;
    if (longest < wait) longest = wait;
  }
  return longest;
}

}  // namespace sextant::terms
