// torchtitan's published pre-training throughput: data/public/torchtitan.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/measured_step.h"

namespace sextant {

// CSV, one row per run; the step time follows from tokens_per_s_per_gpu.
[[nodiscard]] Imported read_torchtitan(const std::vector<std::filesystem::path>& files, const Facts& facts);

// The knobs in tables of torchtitan runs. Degrees must be set.
struct TorchtitanKnobs {
  std::string recompute;  // "none", "full", "selective", "per-op selective"
  bool fp8_linears = false;
  int local_batch_sequences = 1;
};
void set_torchtitan(MeasuredStep& step, const TorchtitanKnobs& knobs);

}  // namespace sextant
