// Whole iterations through the executor on a GPU a rank.
#pragma once

#include <string>
#include <vector>

#include "probes/cuda/proxy/self_check_case.h"
#include "probes/gpu/gpu_self_check.h"
#include "probes/proxy/engine.h"

namespace sextant::gpu {

struct CheckedSession {
  std::string name;
  CheckedLayout training;  // and inference
  CheckedLayout generation;
};

// Two iterations; afterwards generation has the trained weights, which are not the initial ones. Collective.
[[nodiscard]] std::vector<GpuCheck> check_session(Communicator& world, proxy::TaskEngine& engine,
                                                  const CheckedSession& session);

}  // namespace sextant::gpu
