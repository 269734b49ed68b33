// The GPUs of a log as its user states them, in place of the log's own statement.
#pragma once

#include <optional>
#include <string>

namespace sextant::inline calibrate {

struct StatedGpus {
  std::string gpu;  // as Facts::gpu_in reads it; empty: not stated
  std::optional<int> gpus;
  int gpus_per_node = 0;  // 0: not stated
};

}  // namespace sextant::inline calibrate
