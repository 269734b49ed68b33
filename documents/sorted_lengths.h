// A batch sorted by length, shortest first; replicas take one part of it after another (HetRL, seed 000, 4.2:
// "samples with longer sequence length to more powerful GPUs"; Replica::length_rank).
//
// A sequence is a prompt, a response and the output of tools. Sequence k of n, from 0, represents the lengths
// between the quantiles k / n and (k + 1) / n: the mean of a large batch. Prompts and responses are treated as
// independent, each in cells of its distribution, so that sums over all sequences equal those of the
// distribution, to rounding, and sums over a part are close (to a thousandth for log-normal lengths).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/workflow.h"

namespace sextant::inline documents {

class SortedLengths {
 public:
  // Sorts the sequences of the workflow's global batch.
  explicit SortedLengths(const Workflow& workflow);

  [[nodiscard]] int sequences() const { return sequences_; }
  // Sums and means over the sequences first .. last - 1; 0 <= first < last <= sequences().
  [[nodiscard]] double tokens(int first, int last) const { return between(tokens_, first, last); }
  [[nodiscard]] double square_tokens(int first, int last) const { return between(squares_, first, last); }
  [[nodiscard]] double mean_tokens(int first, int last) const { return tokens(first, last) / (last - first); }
  [[nodiscard]] double mean_square_tokens(int first, int last) const {
    return square_tokens(first, last) / (last - first);
  }
  // Maximum of the first `last` sequences; for all of them the longest prompt with the longest response.
  [[nodiscard]] double longest(int last) const {
    const double place = std::ceil(last / per_place_);
    return longest_[std::min(longest_.size(), static_cast<std::size_t>(place)) - 1];
  }
  // True if all sequences have the same length.
  [[nodiscard]] bool is_fixed() const { return longest_.front() == longest_.back(); }

 private:
  [[nodiscard]] double between(const std::vector<double>& below, int first, int last) const {
    if (per_place_ == 1) return below[static_cast<std::size_t>(last)] - below[static_cast<std::size_t>(first)];
    return per_place_ * (sum_at(below, last / per_place_) - sum_at(below, first / per_place_));
  }
  [[nodiscard]] static double sum_at(const std::vector<double>& below, double place) {
    const std::size_t before = std::min(below.size() - 2, static_cast<std::size_t>(place));
    return below[before] + (place - static_cast<double>(before)) * (below[before + 1] - below[before]);
  }

  int sequences_ = 0;
  double per_place_ = 1;                  // sequences; more than one in a batch of very many
  std::vector<double> tokens_, squares_;  // prefix sums; one more than places
  std::vector<double> longest_;           // by place
};

}  // namespace sextant::inline documents
