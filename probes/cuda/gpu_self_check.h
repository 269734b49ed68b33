// The GPU's tasks against the CPU cores' on small models: same weights (rounded), same sequences.
#pragma once

#include <string>
#include <vector>

namespace sextant {

struct GpuCheck {
  std::string name;      // "dim 64, 4 heads a KV head: log-probabilities, largest difference"
  double value = 0;      // must be at most
  double tolerance = 0;  // bf16 has 8 significant bits; see self_check.cpp for each
  [[nodiscard]] bool passed() const { return value <= tolerance; }  // false for NaN
};

struct GpuChecksOrReason {
  std::vector<GpuCheck> checks;
  std::string reason;  // why nothing could be checked; empty otherwise
};

// Some seconds on a GPU. `most_models` of the models; Error(machine) when the device fails.
[[nodiscard]] GpuChecksOrReason check_gpu_proxy(int most_models = 4);

}  // namespace sextant
