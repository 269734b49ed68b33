#include "probes/proxy/schedule.h"

#include <algorithm>

namespace sextant::proxy {

int micro_batches_in_flight(int stage, int stages, int micro_batches) {
  return std::min(stages - stage, micro_batches);
}

std::vector<PipelineStep> one_forward_one_backward(int stage, int stages, int micro_batches) {
  std::vector<PipelineStep> steps;
  int forward = 0;
  const auto warm_up = std::min(stages - stage - 1, micro_batches);
  while (forward < warm_up) steps.push_back({Pass::forward, forward++});
  for (int backward = 0; backward < micro_batches; ++backward) {
    if (forward < micro_batches) steps.push_back({Pass::forward, forward++});
    steps.push_back({Pass::backward, backward});
  }
  return steps;
}

}  // namespace sextant::proxy
