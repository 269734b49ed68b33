// What every probe of one device is given.
#pragma once

#include "probes/harness/clock.h"
#include "probes/harness/sampling.h"

namespace sextant {

struct ProbeContext {
  SamplingOptions sampling;
  const Clock* clock = &steady_clock();
  // True when what was said is true for every rank that measures at this moment. Ranks of a job must call it
  // equally often; alone, a process agrees with itself.
  Agreement agreement = [](bool mine) { return mine; };
  // What one probe may allocate.
  double memory_limit_bytes = 1e9;
  // The smallest sizes alone, to see that everything runs.
  bool is_smoke_test = false;
};

}  // namespace sextant
