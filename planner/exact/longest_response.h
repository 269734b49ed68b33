// A lower bound of generation that no number of devices shortens: the tokens of the longest response are made one
// after the other.
//
// A replica takes at least max_j D_j + w (sum over j of D_j / b - max_j D_j), with D_j the decoding time of stage j,
// b the batches in the pipeline and w the serialization weight (costmodel/terms/decode.h). All D_j have the same
// number of steps, at least b times the chain of min_decode_steps. With at most S stages follows, for
// w' = min(w, 1),
//   T >= chain * (w' + (1 - w') / S) * sum over j of the minimum of a step.
// In a step each stage reads its weights, outside of routed experts, at least once, split over its tensor-parallel
// group, and has its fixed times. A group of several devices waits for the latency of its collectives. The minimum
// is over all degrees of tensor parallelism that divide the model's heads and over all types of devices.
#pragma once

#include <vector>

#include "costmodel/problem/problem.h"

namespace sextant::inline planner {

// Minimum latencies of the links between two different devices.
struct MinLatencies {
  int node_devices = 1;  // of the largest node
  double any_s = 0;      // of any two devices
  double between_nodes_s = 0;

  // 0 for one device.
  [[nodiscard]] double of_group(int devices) const {
    return devices < 2 ? 0 : devices > node_devices ? between_nodes_s : any_s;
  }
};
[[nodiscard]] MinLatencies min_latencies(const Cluster& cluster);

// Minimum number of decoding steps of any replica, for each batch that is in its pipeline (costmodel/problem/work.h):
// those of the longest response of all, if generation waits for it; those of a mean response if responses end
// individually and places are refilled, and fewer if several batches are in flight.
[[nodiscard]] double min_decode_steps(const TaskWork& work, const Workflow& workflow);

// The bound in seconds for the work of a generation task. types: one device of each type.
[[nodiscard]] double min_longest_response_s(const Problem<double>& frame, const TaskWork& work,
                                            const std::vector<DeviceId>& types, const MinLatencies& latencies);

}  // namespace sextant::inline planner
