// Unstated quantities of a source as parameters: how predictions change with them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/residuals.h"

namespace sextant::inline calibrate {

using RunPredictor = std::function<std::vector<double>(const PreparedRun&)>;

// Returns the change of the logarithm of every prediction of a run if the unstated quantity changes by one,
// from predictions of the run with its workflow or plan changed:
//   response_tokens         from the mean response to one longer by exp(0.1)
//   recompute               from what the plan says to full recomputation of all tasks
//   decode_batch_sequences  from half to twice the decode batch of generation; if the plan sets none, of the
//                           sequences of its largest replica
//   memory_share            from 0.05 of a device's memory less to 0.05 more in the plan's kv_cache_bytes: the
//                           weights take what they take. Of a task's devices the one with the least memory
//                           counts
//   prefill_chunk_tokens    from half to twice the plan's
//   rule_reward_s           from the workflow's seconds a sequence to 10 ms more
// Settings of engines come in powers of two, and their effect in steps (one more wave of sequences, one more
// pass of prompts), so local derivatives would be meaningless. If everything fits either way, or if the plan
// sets no limit of memory or of a chunk, slopes are 0.
[[nodiscard]] std::vector<double> log_slopes(const PreparedRun& run, UnstatedQuantity quantity,
                                             const RunPredictor& predict);

// The range of the quantity, relative to the value that the workflow or plan assumes: lengths by a factor of
// exp(2), settings of engines by a factor of 8 either way, memory from 0.3 less to 0.1 more of a device's,
// because engines that assume 0.9 can take no more than all; a rule's reward up to 0.1 s more.
struct UnstatedRange {
  double lower;
  double upper;
};
[[nodiscard]] UnstatedRange range_of(UnstatedQuantity quantity);

// A value that a fit found for the runs of one group.
struct UnstatedValue {
  UnstatedQuantity quantity = UnstatedQuantity::response_tokens;
  std::string group;
  double value = 0;
  double deviation = 0;  // deviation that remains after the fit
};

// Returns the factor on every prediction of a run from the values found for its groups.
[[nodiscard]] std::vector<double> unstated_factors(const PreparedRun& run,
                                                   const std::vector<UnstatedValue>& values,
                                                   const RunPredictor& predict);

// Returns the variance of the logarithm of every prediction of a run that follows from unstated quantities:
// with the posterior deviation for groups that the fit saw, and the prior's for the others.
[[nodiscard]] std::vector<double> unstated_variances(const PreparedRun& run,
                                                     const std::vector<UnstatedValue>& values,
                                                     const RunPredictor& predict);

}  // namespace sextant::inline calibrate
