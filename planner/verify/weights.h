// Parameters that one device of a stage holds, counted matrix by matrix (HetRL B.2, with grouped-query and
// latent attention, experts, embedding and head). Normalisation weights are left out, as in the appendix.
#pragma once

#include <cstdint>

#include "planner/verify/planned_task.h"

namespace sextant::inline planner {

// Numbers of parameters. Routed experts are separate: they are split over their own devices and may be stored
// in their own format.
struct Weights {
  double shared = 0;   // attention, dense and shared MLPs, routers, embedding and head
  double experts = 0;  // routed
};

// Devices that share the routed experts of a layer: expert-parallel ranks times the devices per expert, by
// default the number of those in a tensor-parallel group.
[[nodiscard]] std::int64_t expert_devices(const PlannedTask& task, const Stage& stage);

// The parameters on one device. If layers differ (dense ones and ones with experts) each counts as the mean
// over the model's, because plans state the number of layers of a stage but not which.
[[nodiscard]] Weights held_weights(const PlannedTask& task, const Replica& replica, std::size_t stage);

// One layer of the above.
[[nodiscard]] Weights layer_weights(const PlannedTask& task, const Stage& stage);

// On one device: adapters of rank r on each projection, r (a + b) weights for a to b (Hu et al. 2021).
[[nodiscard]] Weights adapter_weights(const PlannedTask& task, const Stage& stage);

// Number of devices over all replicas with the same part of the weights, over which ZeRO divides states
// (Rajbhandari et al. 2020: the data-parallel degree): every replica and context-parallel part for the shared
// weights, fewer for experts that are split over several of these. With sharded_over only the devices of a group.
struct Copies {
  double shared = 1;
  double experts = 1;
};

[[nodiscard]] Copies copies_of(const PlannedTask& task, const Stage& stage);

}  // namespace sextant::inline planner
