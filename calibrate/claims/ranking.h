// How well predictions order alternatives that were measured in turns.
#pragma once

#include <span>
#include <vector>

namespace sextant {

// Whether rounds in which one alternative won `wins` times of `rounds` tell the two apart: two-sided sign test
// at 5 %.
[[nodiscard]] bool told_apart(int wins, int rounds);

struct RankAgreement {
  double tau = 0;  // pairs in the predicted order minus pairs in the other, by both; 0 without pairs
  int pairs = 0;   // that the rounds tell apart: the others have no order to predict
};

// Kendall's tau over those pairs. samples[alternative][round]; a pair is looked at in the rounds that both
// have.
[[nodiscard]] RankAgreement rank_agreement(std::span<const std::vector<double>> samples,
                                           std::span<const double> predicted);

}  // namespace sextant
