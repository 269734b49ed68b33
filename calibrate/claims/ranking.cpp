#include "calibrate/claims/ranking.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace sextant {

bool told_apart(int wins, int rounds) {
  constexpr double kDoubt = 0.05;
  const int most = std::max(wins, rounds - wins);
  double tail = 0;  // of a fair coin: `most` wins or more
  for (int k = most; k <= rounds; ++k) {
    tail += std::exp(std::lgamma(rounds + 1.0) - std::lgamma(k + 1.0) - std::lgamma(rounds - k + 1.0) -
                     rounds * std::log(2.0));
  }
  return 2 * tail <= kDoubt;
}

RankAgreement rank_agreement(std::span<const std::vector<double>> samples, std::span<const double> predicted) {
  SEXTANT_CHECK(samples.size() == predicted.size());
  RankAgreement agreement;
  int sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i + 1; j < samples.size(); ++j) {
      const std::size_t rounds = std::min(samples[i].size(), samples[j].size());
      int wins = 0;  // of i
      for (std::size_t round = 0; round < rounds; ++round)
        wins += samples[i][round] < samples[j][round] ? 1 : 0;
      if (!told_apart(wins, static_cast<int>(rounds))) continue;
      ++agreement.pairs;
      const bool is_first = 2 * wins > static_cast<int>(rounds);
      if (predicted[i] != predicted[j]) sum += (predicted[i] < predicted[j]) == is_first ? 1 : -1;
    }
  }
  if (agreement.pairs > 0) agreement.tau = static_cast<double>(sum) / agreement.pairs;
  return agreement;
}

}  // namespace sextant
