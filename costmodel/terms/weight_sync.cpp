#include "costmodel/terms/weight_sync.h"

#include <algorithm>

namespace sextant::terms {

bool is_colocated(const TaskPlan& generation, const TaskPlan& training) {
  const std::set<DeviceId> generating = generation.devices(), trained = training.devices();
  return std::includes(trained.begin(), trained.end(), generating.begin(), generating.end());
}

}  // namespace sextant::terms
