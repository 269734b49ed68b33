// Runs in which the fixed times of mini-batches and of calls are a large part of every task.
#pragma once

#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {

inline Coefficients overhead_truth() {
  Coefficients truth = synthetic_truth();
  for (const CoefficientId id : {CoefficientId::task_overhead_s, CoefficientId::call_overhead_s}) {
    truth.values[static_cast<std::size_t>(id)].value = 0.1;  // s
  }
  return truth;
}

// Every second workflow trains in `mini_batches` mini-batches, the others in one: with 1 the two fixed times
// always occur together.
inline Runs overhead_runs(int mini_batches) {
  Runs runs = synthetic_runs(overhead_truth());
  bool second = false;
  for (auto& [name, workflow] : runs.workflows) {
    workflow.mini_batches = second ? mini_batches : 1;
    second = !second;
  }
  measure_again(runs, overhead_truth());
  return runs;
}

}  // namespace sextant::test
