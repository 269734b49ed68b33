#include "documents/sorted_lengths.h"

#include <algorithm>

namespace sextant::inline documents {
namespace {

// Prompt and response together, with what tools returned in all turns.
std::vector<LengthCell> sums_of(const Workflow& workflow) {
  constexpr int kMaxPrompts = 64, kMaxResponses = 256;
  const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const std::vector<LengthCell> responses = workflow.response_tokens.cells(kMaxResponses);
  std::vector<LengthCell> sums;
  for (const LengthCell& prompt : workflow.prompt_tokens.cells(kMaxPrompts)) {
    const double before = prompt.mean + observed;
    const double before_square = prompt.mean_square + observed * (2 * prompt.mean + observed);
    for (const LengthCell& response : responses) {
      sums.push_back({prompt.mass * response.mass, before + response.mean,
                      before_square + 2 * before * response.mean + response.mean_square});
    }
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const LengthCell& a, const LengthCell& b) { return a.mean < b.mean; });
  return sums;
}

}  // namespace

SortedLengths::SortedLengths(const Workflow& workflow) {
  const std::vector<LengthCell> cells = sums_of(workflow);
  constexpr int kMaxPlaces = 1 << 18;  // beyond, a place stands for several sequences: 6 MiB are enough
  sequences_ = workflow.sequences();
  const int count = std::min(sequences_, kMaxPlaces);
  per_place_ = static_cast<double>(sequences_) / count;
  const auto places = static_cast<std::size_t>(count);
  tokens_.assign(places + 1, 0.0);
  squares_.assign(places + 1, 0.0);
  longest_.assign(places, 0.0);
  double mass = 0;
  for (const LengthCell& cell : cells) mass += cell.mass;  // 1, but for rounding
  std::size_t next = 0;
  double left = cells.front().mass / mass * count;  // of the cell, in sequences
  double longest = 0;
  for (std::size_t k = 0; k < places; ++k) {
    double filled = 0, tokens = 0, squares = 0;
    while (filled < 1 && next < cells.size()) {
      const double taken = std::min(1 - filled, left);
      tokens += taken * cells[next].mean;
      squares += taken * cells[next].mean_square;
      if (taken > 0) longest = std::max(longest, cells[next].mean);
      filled += taken;
      left -= taken;
      if (left > 0) continue;
      if (++next < cells.size()) left = cells[next].mass / mass * count;
    }
    // Rounding may leave a small part of the last sequence, which counts as the rest of it.
    tokens_[k + 1] = tokens_[k] + tokens / filled;
    squares_[k + 1] = squares_[k] + squares / filled;
    longest_[k] = longest;
  }
  longest_.back() = workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens() +
                    (workflow.turns - 1) * workflow.observation_tokens_per_turn;
}

}  // namespace sextant::inline documents
