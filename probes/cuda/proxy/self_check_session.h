// Runs whole iterations through the executor, one GPU per rank.
#pragma once

#include <string>
#include <vector>

#include "probes/cuda/proxy/self_check_case.h"
#include "probes/gpu/gpu_self_check.h"
#include "probes/proxy/engine.h"

namespace sextant::gpu {

struct CheckedSession {
  std::string name;
  CheckedLayout training;  // also of inference
  CheckedLayout generation;
};

// Runs two iterations; afterwards generation has the trained weights, not the initial ones. Collective.
[[nodiscard]] std::vector<GpuCheck> check_session(Communicator& world, proxy::TaskEngine& engine,
                                                  const CheckedSession& session);

}  // namespace sextant::gpu
