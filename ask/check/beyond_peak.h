// Measured times in which no GPU could have done the work.
#pragma once

#include <string>
#include <vector>

#include "sextant/run.h"

namespace sextant::inline ask {

// A measured time whose arithmetic is more than the rates of the devices allow.
struct BeyondPeak {
  std::string what;          // the timer's name, or kIteration
  double measured_s = 0;     // median
  double share = 0;          // of the devices' rates, above 1
  std::string devices;       // "8 h100"
  double flop_per_s = 0;     // of one device: the fastest
  bool is_measured = false;  // the rate was measured; otherwise it is from the datasheet or assumed

  // "actor_training in 3.2 s is 143 % of the peak of 8 h100 (989 TFLOP/s each): ..."
  [[nodiscard]] std::string sentence() const;
};

// The arithmetic is counted low: model FLOP of tokens at their mean length, causal attention, no recomputation, no
// padding, prompts once for all their responses, no gradients of weights that LoRA leaves alone. Measured rates may
// be exceeded by a tenth. Runs that do not state their response lengths have none.
[[nodiscard]] std::vector<BeyondPeak> beyond_peak(const Run& run, const Cluster& cluster,
                                                  const Workflow& workflow, const Plan& plan);

// The sentences of all runs, each after the name of its run.
[[nodiscard]] std::vector<std::string> beyond_peak_of_all(const Runs& runs);

}  // namespace sextant::inline ask
