// Response lengths of a job, and the times of phases that follow from them.
//
// All responses of an iteration start together, and a decode step takes (1 - b) + b u of a step with the whole batch
// while the share u of the responses is still generated; b is batch_share. With n responses of lengths L_i and the
// bound T of a rollout in which all have the maximum M, token x is reached after
//   t(x) = E + (T - E) ((1 - b) x + b mean_i min(L_i, x)) / M,
// where E is what a sequence waits for its environment (Job::environment_s), whatever its length.
// b = 0: every step takes the same time, as decode of small batches does. Training takes the share
// fixed_training_share of its bound, and the rest in proportion to the mean length (section 3.2: training cost scales
// linearly with the number of generated tokens).
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/lengths.h"

namespace sextant::coschedule {

struct Responses {
  Lengths tokens;
  double max_tokens = 0;            // length of every response in the job's bounds; 0: the longest of `tokens`
  int count = 256;                  // responses of an iteration
  int workers = 8;                  // engines that generate, on all rollout nodes of the job together
  double batch_share = 0;           // see above
  double fixed_training_share = 0;  // see above
  double migration_s = 0;           // to stop the tail of a rollout and prefill it on other workers

  [[nodiscard]] double bound_tokens() const { return max_tokens > 0 ? max_tokens : tokens.max_tokens(); }
  friend bool operator==(const Responses&, const Responses&) = default;
};

// Lengths of the responses of one iteration.
class Batch {
 public:
  explicit Batch(std::vector<double> tokens);  // in any order, at least one

  [[nodiscard]] double longest() const { return tokens_.back(); }
  [[nodiscard]] double mean() const { return sum_.back() / static_cast<double>(tokens_.size()); }
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  // The length of response k in ascending order, from 0.
  [[nodiscard]] double at(std::size_t k) const { return tokens_[k]; }
  // The mean of min(length, tokens).
  [[nodiscard]] double mean_up_to(double tokens) const;

 private:
  std::vector<double> tokens_, sum_;  // ascending; sums of the first 1, 2, ...
};

// Quantiles of the distribution, the longest replaced by the expected longest of `count` responses.
[[nodiscard]] Batch typical_batch(const Responses& responses);
// Independent draws; the same numbers give the same batch.
[[nodiscard]] Batch drawn_batch(const Responses& responses, std::uint64_t seed, std::uint64_t iteration);

// Lengths multiplied by the factor; none exceeds the maximum of the bounds.
[[nodiscard]] Responses with_longer_responses(const Responses& responses, double factor);

}  // namespace sextant::coschedule
