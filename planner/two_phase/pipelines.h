// The layouts that AReaL-Hex's constrained search enumerates (section 4.2.1), without micro-batches.
#pragma once

#include <vector>

#include "planner/two_phase/pieces.h"
#include "sextant/model.h"
#include "sextant/plan.h"

namespace sextant::inline planner {

// Devices of one type, machine by machine.
struct TypePool {
  double flop_per_s = 0;  // of one device, in the workflow's precision
  std::vector<std::vector<DeviceId>> pieces;
};

// Pools by type, fastest first: earlier stages hold more activations of micro-batches in flight, and their
// devices wait the least.
[[nodiscard]] std::vector<TypePool> type_pools(const Cluster& cluster, const std::vector<DeviceId>& devices,
                                               Precision precision);

struct PipelineLimits {
  int tensor_parallel_limit = 64;
  int max_replicas = 1;  // the batch
};

// The replicas of every layout, with equal shares of the batch. Beyond 64 replicas only multiples of eight and
// the largest number per count of stages are listed. Remaining devices of a type stay idle; layouts are left
// out if more than a quarter of the arithmetic of the participating types would be idle.
[[nodiscard]] std::vector<std::vector<Replica>> pipelines_of(const std::vector<TypePool>& pools,
                                                             const Model& model, const PipelineLimits& limits);

// Splits `layers` in proportion to `speeds`, at least one per stage, rounded by largest remainder; requires at
// least as many layers as stages.
[[nodiscard]] std::vector<int> layers_by_speed(int layers, const std::vector<double>& speeds);

}  // namespace sextant::inline planner
