// The families of claims, one file each.
#pragma once

#include "lab/claims/claims.h"

namespace sextant::claims {

[[nodiscard]] inline bool is_iteration(const HeldOut& time) { return time.what == kIteration; }
[[nodiscard]] inline bool is_task(const HeldOut& time) {
  return time.what != kIteration && time.what != kPeakMemory;
}

void framework(const ClaimContext& context, ClaimReport& report);
void generation(const ClaimContext& context, ClaimReport& report);
void gpu(const ClaimContext& context, ClaimReport& report);
void memory(const ClaimContext& context, ClaimReport& report);
void probe(const ClaimContext& context, ClaimReport& report);
void proxy(const ClaimContext& context, ClaimReport& report);
void real(const ClaimContext& context, ClaimReport& report);
void rl(const ClaimContext& context, ClaimReport& report);
void sailor(const ClaimContext& context, ClaimReport& report);
void shipped(const ClaimContext& context, ClaimReport& report);
void tracer(const ClaimContext& context, ClaimReport& report);
void training(const ClaimContext& context, ClaimReport& report);
void verl(const ClaimContext& context, ClaimReport& report);
void vtrain(const ClaimContext& context, ClaimReport& report);

}  // namespace sextant::claims
