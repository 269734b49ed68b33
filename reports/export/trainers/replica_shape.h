// Shapes of replicas that a framework can have: equal for all replicas, with the layers that it allows.
#pragma once

#include <compare>
#include <vector>

#include "sextant/framework_profile.h"
#include "sextant/plan.h"

namespace sextant::inline reports {

// The number of stages and the width of each.
struct ReplicaShape {
  int stages = 1;
  int width = 1;

  [[nodiscard]] int devices() const { return stages * width; }
  friend auto operator<=>(const ReplicaShape&, const ReplicaShape&) = default;
};

// The layers of all stages of a replica.
[[nodiscard]] int layers_of(const Replica& replica);

// The shape of most of a task's devices that divides `devices`; otherwise one stage of the widest group that does.
// max_stages: 0 if there is no limit.
[[nodiscard]] ReplicaShape common_shape(const TaskPlan& task, int devices, int max_stages);

// The layers of stages that the rule allows and that are nearest to an even split. Equal stages (StageRule::even) may
// need another number of stages, which is the caller's matter: the layers are returned as they are.
[[nodiscard]] std::vector<int> allowed_stages(const std::vector<int>& layers, StageRule rule);

}  // namespace sextant::inline reports
