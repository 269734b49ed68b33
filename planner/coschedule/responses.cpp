#include "planner/coschedule/responses.h"

#include <algorithm>
#include <numeric>

#include "planner/coschedule/draws.h"
#include "sextant/error.h"

namespace sextant::coschedule {

Batch::Batch(std::vector<double> tokens) : tokens_(std::move(tokens)), sum_(tokens_.size()) {
  SEXTANT_CHECK(!tokens_.empty());
  std::sort(tokens_.begin(), tokens_.end());
  std::partial_sum(tokens_.begin(), tokens_.end(), sum_.begin());
}

double Batch::mean_up_to(double tokens) const {
  const auto ended =
      static_cast<std::size_t>(std::upper_bound(tokens_.begin(), tokens_.end(), tokens) - tokens_.begin());
  const double whole = ended == 0 ? 0 : sum_[ended - 1];
  return (whole + tokens * static_cast<double>(tokens_.size() - ended)) / static_cast<double>(tokens_.size());
}

Batch typical_batch(const Responses& responses) {
  constexpr int kMaxPoints = 512;
  const int points = std::min(responses.count, kMaxPoints);
  std::vector<double> tokens;
  for (int k = 0; k + 1 < points; ++k) tokens.push_back(responses.tokens.quantile((k + 0.5) / points));
  const double longest = responses.tokens.longest_of(responses.count);
  tokens.push_back(tokens.empty() ? longest : std::max(longest, tokens.back()));
  return Batch(std::move(tokens));
}

Batch drawn_batch(const Responses& responses, std::uint64_t seed, std::uint64_t iteration) {
  constexpr int kMaxDrawn = 4096;  // the longest of more hardly moves, and 4,096 sorted numbers take 0.2 ms
  Draws draws(seed, iteration);
  const Lengths& lengths = responses.tokens;
  std::vector<double> tokens(static_cast<std::size_t>(std::min(responses.count, kMaxDrawn)));
  for (double& of : tokens) {
    of = lengths.kind == LengthKind::lognormal
             ? std::min(lengths.max,
                        draws.log_normal(lengths.median * std::exp(lengths.sigma * lengths.sigma / 2),
                                         lengths.sigma))
             : lengths.quantile(std::max(draws.uniform(), 0x1.0p-53));
  }
  return Batch(std::move(tokens));
}

Responses with_longer_responses(const Responses& responses, double factor) {
  Responses longer = responses;
  longer.max_tokens = responses.bound_tokens();
  longer.tokens = cut_at(scaled(responses.tokens, factor), longer.max_tokens);
  return longer;
}

}  // namespace sextant::coschedule
