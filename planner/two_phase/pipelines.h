// The layouts that AReaL-Hex's constrained search enumerates (section 4.2.1), without micro-batches.
#pragma once

#include <vector>

#include "planner/two_phase/pieces.h"
#include "sextant/model.h"
#include "sextant/plan.h"

namespace sextant {

// Devices of one type, machine by machine.
struct TypePool {
  double flop_per_s = 0;  // of one device, in the workflow's precision
  std::vector<std::vector<DeviceId>> pieces;
};

// Fastest type first: earlier stages hold more activations of micro-batches in flight, and their devices wait
// the least.
[[nodiscard]] std::vector<TypePool> type_pools(const Cluster& cluster, const std::vector<DeviceId>& devices,
                                               Precision precision);

struct PipelineLimits {
  int tensor_parallel_limit = 64;
  int max_replicas = 1;  // the batch
};

// Replicas of every layout, with equal shares of the batch; beyond 64 replicas those numbers that are multiples
// of eight, or the largest with so many stages. Of types whose devices do not divide some stay idle; layouts in
// which more than a quarter of the arithmetic of the types that take part would stay idle are left out.
[[nodiscard]] std::vector<std::vector<Replica>> pipelines_of(const std::vector<TypePool>& pools,
                                                             const Model& model, const PipelineLimits& limits);

// `layers` in proportion to `speeds`, each stage at least one, rounded by largest remainder; at least as many
// layers as stages.
[[nodiscard]] std::vector<int> layers_by_speed(int layers, const std::vector<double>& speeds);

}  // namespace sextant
