// The sequences of one iteration: their lengths and their assignment to replicas.
//
// Lengths are drawn once per workload from the workflow's distributions (a prompt's once for its whole group),
// so that all iterations of a measurement do the same work and every rank can compute it.
#pragma once

#include <cstddef>
#include <vector>

#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::proxy {

// The sequences begin .. end - 1.
struct Range {
  int begin = 0;
  int end = 0;
  [[nodiscard]] int size() const { return end - begin; }
};

struct Workload {
  std::vector<int> prompt_tokens;    // by sequence
  std::vector<int> response_tokens;  // by sequence
  std::vector<std::size_t> offsets;  // start of each sequence among all tokens, and the end

  [[nodiscard]] int sequences() const { return static_cast<int>(prompt_tokens.size()); }
  [[nodiscard]] Range all() const { return {0, sequences()}; }
  [[nodiscard]] int prompt(int sequence) const { return prompt_tokens[static_cast<std::size_t>(sequence)]; }
  [[nodiscard]] int response(int sequence) const { return response_tokens[static_cast<std::size_t>(sequence)]; }
  [[nodiscard]] int length(int sequence) const { return prompt(sequence) + response(sequence); }
  [[nodiscard]] std::size_t offset(int sequence) const { return offsets[static_cast<std::size_t>(sequence)]; }
  [[nodiscard]] std::size_t tokens() const { return offsets.back(); }
  [[nodiscard]] int longest() const;
  // Returns prompt plus response tokens of every sequence of the range.
  [[nodiscard]] std::vector<int> lengths(Range range) const;
  [[nodiscard]] std::vector<int> prompts(Range range) const;
};

[[nodiscard]] Workload make_workload(const Workflow& workflow, unsigned seed);

// Returns the replica's part of the sequences in `whole`, by the plan's shares.
[[nodiscard]] Range replica_range(const TaskPlan& plan, int replica, Range whole);

// Returns pieces of `size` sequences, the last one smaller.
[[nodiscard]] std::vector<Range> cut_by_size(Range whole, int size);
// Returns `count` pieces whose sizes differ by at most one.
[[nodiscard]] std::vector<Range> cut_evenly(Range whole, int count);

}  // namespace sextant::proxy
