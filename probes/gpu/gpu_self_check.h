// Compares the GPU's tasks with the CPU cores' on small models: same weights (rounded), same sequences.
#pragma once

#include <string>
#include <vector>

#include "probes/comm/communicator.h"

namespace sextant::inline probes {

struct GpuCheck {
  std::string name;      // "dim 64, 4 heads a KV head: log-probabilities, largest difference"
  double value = 0;      // must be at most the tolerance
  double tolerance = 0;  // bf16 has 8 significant bits; see self_check.cpp for each
  [[nodiscard]] bool passed() const { return value <= tolerance; }  // false for NaN
};

struct GpuChecksOrReason {
  std::vector<GpuCheck> checks;
  std::string reason;  // why nothing could be checked; empty if it could
};

// Collective over `world`, one GPU per rank; every rank has the same result. One rank checks its GPU alone, on
// `max_models` of the models; two or more check how GPUs share a model: tensor, pipeline and data parallelism
// and the transfer of weights between GPUs (with four or more, parallelism of two kinds). Takes some seconds.
// Throws Error(machine) if a device fails.
[[nodiscard]] GpuChecksOrReason check_gpu_proxy(Communicator& world, int max_models = 4);

}  // namespace sextant::inline probes
