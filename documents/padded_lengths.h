// The length of a batch whose sequences are padded to the longest of them (Padding in sextant/execution.h).
//
// Frameworks pad prompts and responses apart, so a padded sequence has the tokens of the longest prompt, of the
// longest response, and of what tools return. Responses are independent draws; the responses to one prompt have
// that prompt in common, so of n sequences n / responses_per_prompt prompts are draws.
#pragma once

#include "sextant/workflow.h"

namespace sextant::inline documents {

struct PaddedLengths {
  double prompt = 0;
  double response = 0;
  double observed = 0;
  [[nodiscard]] double all() const { return prompt + response + observed; }
};

// Expected values for a batch of n sequences, n >= 1, not necessarily whole.
[[nodiscard]] PaddedLengths longest_among(const Workflow& workflow, double n);

// The same for the whole batch of an iteration: no micro-batch of it is longer.
[[nodiscard]] double longest_of_iteration(const Workflow& workflow);

}  // namespace sextant::inline documents
