// The common parameters of every probe of one device.
#pragma once

#include "probes/harness/clock.h"
#include "probes/harness/sampling.h"

namespace sextant::inline probes {

struct ProbeContext {
  SamplingOptions sampling;
  const Clock* clock = &steady_clock();
  // Returns true if every rank that currently measures passes true. Ranks of a job must call it equally often;
  // a single process agrees with itself.
  Agreement agreement = [](bool mine) { return mine; };
  // The memory that one probe may allocate.
  double memory_limit_bytes = 1e9;
  // Only the smallest sizes, to test that all code runs.
  bool is_smoke_test = false;
};

}  // namespace sextant::inline probes
