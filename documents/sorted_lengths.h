// A batch sorted by length, shortest first; replicas take one part of it after another (HetRL, seed 000, 4.2:
// "samples with longer sequence length to more powerful GPUs"; Replica::length_rank).
//
// A sequence is a prompt, a response and the output of tools. Sequence k of n, from 0, represents the lengths
// between the quantiles k / n and (k + 1) / n: the mean of a large batch. Prompts and responses are treated as
// independent, each in cells of its distribution, so that sums over all sequences equal those of the
// distribution, to rounding, and sums over a part are close (to a thousandth for log-normal lengths).
#pragma once

#include <vector>

#include "sextant/workflow.h"

namespace sextant {

class SortedLengths {
 public:
  // Sorts the sequences of the workflow's global batch.
  explicit SortedLengths(const Workflow& workflow);

  [[nodiscard]] int sequences() const { return static_cast<int>(longest_.size()); }
  // Sums and means over the sequences first .. last - 1; 0 <= first < last <= sequences().
  [[nodiscard]] double tokens(int first, int last) const { return between(tokens_, first, last); }
  [[nodiscard]] double square_tokens(int first, int last) const { return between(squares_, first, last); }
  [[nodiscard]] double mean_tokens(int first, int last) const { return tokens(first, last) / (last - first); }
  [[nodiscard]] double mean_square_tokens(int first, int last) const {
    return square_tokens(first, last) / (last - first);
  }
  // Maximum of the first `last` sequences; for all of them the longest prompt with the longest response.
  [[nodiscard]] double longest(int last) const { return longest_[static_cast<std::size_t>(last) - 1]; }
  // True if all sequences have the same length.
  [[nodiscard]] bool is_fixed() const { return longest_.front() == longest_.back(); }

 private:
  [[nodiscard]] static double between(const std::vector<double>& below, int first, int last) {
    return below[static_cast<std::size_t>(last)] - below[static_cast<std::size_t>(first)];
  }

  std::vector<double> tokens_, squares_;  // prefix sums; one more than sequences
  std::vector<double> longest_;           // by sequence
};

}  // namespace sextant
