// Explains why a link is slower than its class, only from observed evidence.
#pragma once

#include <map>
#include <string>

#include "probes/topology/gpu_place.h"

namespace sextant::inline probes {

// Packet headers take up to 17 %; a larger gap has another cause.
inline constexpr double kGapFraction = 0.25;

struct LinkEvidence {
  const GpuPlace* a = nullptr;
  const GpuPlace* b = nullptr;
  double expected_bytes_per_s = 0;  // 0: unknown
  double measured_bytes_per_s = 0;
  int usual_nvlinks = 0;                        // as in expected_rate
  bool is_nccl = false;                         // measured through NCCL; else by a peer copy
  bool is_through_host = false;                 // a peer copy that CUDA stages in the host's memory
  double largest_bytes = 0;                     // of a message
  std::string throttle;                         // throttle reason of a GPU; empty: none
  std::map<std::string, std::string> settings;  // environment settings by name

  // The value of a setting of the environment such as NCCL_IB_DISABLE; "" if it is not set.
  [[nodiscard]] std::string setting(const std::string& name) const {
    const auto found = settings.find(name);
    return found == settings.end() ? "" : found->second;
  }
};

[[nodiscard]] bool has_gap(const LinkEvidence& evidence);

// Returns a sentence with the observed causes of the gap, the likeliest first, or that none was observed; empty
// without a gap.
[[nodiscard]] std::string likely_reason(const LinkEvidence& evidence);

}  // namespace sextant::inline probes
