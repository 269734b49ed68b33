// HetRL's load balancing (section 4.2) as an estimate, before anything is costed: layers and sequences in
// proportion to how fast devices are at the task. What the cost model says better is found by moves of single
// layers and sequences (sha_ea/polish.h).
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/workflow.h"
#include "planner/space/device_order.h"

namespace sextant {

// What a task's load is dealt by.
struct LoadWeights {
  // By device, in any unit: FLOP/s at the workflow's precision, or of generation bytes/s of memory.
  std::vector<double> speeds;
  // What the last stage computes beside its layers, in layers: the vocabulary's head. Of generation none, whose
  // stages wait for each other anyway.
  double head_layers = 0;
};
[[nodiscard]] LoadWeights load_weights_of(const Task& task, const Workflow& workflow, const Cluster& cluster);

// `total` in parts of at least one each, as nearly in proportion to `weights` as whole numbers allow (largest
// remainders first, of equals the earlier); the last part has `of_last` besides. total >= number of parts;
// weights > 0.
[[nodiscard]] std::vector<int> dealt_by(const std::vector<double>& weights, int total, double of_last = 0);

// How layers and sequences are dealt. The head is an estimate: how fast it is computed says the cost model
// alone.
enum class Dealing { evenly, by_speed, by_speed_and_head };

// A stage is as fast as its slowest device in any replica, a replica as its slowest stage with the layers it
// then has. The shape itself where all are equally fast and there is no head.
[[nodiscard]] Shape balanced(const Shape& shape, DeviceOrder order, const std::vector<std::uint16_t>& devices,
                             const LoadWeights& weights, Dealing dealing);

}  // namespace sextant
