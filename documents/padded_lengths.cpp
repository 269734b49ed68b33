#include "documents/padded_lengths.h"

#include <algorithm>

namespace sextant::inline documents {
namespace {

// At least the mean, which the quadrature of a single draw may miss by rounding.
double longest_draw(const Lengths& lengths, double n) {
  return std::max(lengths.mean_tokens(), lengths.longest_of(std::max(1.0, n)));
}

}  // namespace

PaddedLengths longest_among(const Workflow& workflow, double n) {
  return {longest_draw(workflow.prompt_tokens, n / workflow.responses_per_prompt),
          longest_draw(workflow.response_tokens, n),
          (workflow.turns - 1) * workflow.observation_tokens_per_turn};
}

double longest_of_iteration(const Workflow& workflow) {
  return longest_among(workflow, workflow.sequences()).all();
}

}  // namespace sextant::inline documents
