// Distribution of prompt or response lengths in tokens.
#pragma once

#include <vector>

#include "sextant/json.h"

namespace sextant {

enum class LengthKind { fixed, empirical, lognormal };

// A range of adjacent lengths.
struct LengthCell {
  double mass = 0;         // probability
  double mean = 0;         // mean length in the range
  double mean_square = 0;  // mean squared length in the range
};

// A document holds one of these:
//   {"kind": "fixed", "tokens": 1024}                                  0: no tokens, as in a lone training step
//   {"kind": "empirical", "tokens": [100, 200], "weights": [1, 3]}     weights are normalised on use
//   {"kind": "lognormal", "median": 800, "sigma": 0.6, "max": 4096}    mass beyond max lies at max
struct Lengths {
  LengthKind kind = LengthKind::fixed;
  std::vector<double> tokens;   // fixed: one; empirical: support, ascending
  std::vector<double> weights;  // empirical
  double median = 0;            // lognormal
  double sigma = 0;             // lognormal: deviation of the logarithm
  double max = 0;               // lognormal, truncation

  [[nodiscard]] double mean_tokens() const;
  [[nodiscard]] double mean_square_tokens() const;  // E[X^2]
  [[nodiscard]] double max_tokens() const;
  // E[max of n independent lengths], n >= 1, not necessarily whole: the last response of a batch ends
  // generation. The value is exact for fixed and empirical lengths, and by quadrature of 1 - F^n, to about
  // 1e-6, for log-normal ones.
  [[nodiscard]] double longest_of(double n) const;
  // The smallest length that a response exceeds with probability 1 - p or less; 0 < p <= 1. Log-normal lengths:
  // to 1e-12 of the deviation.
  [[nodiscard]] double quantile(double p) const;
  // Maximum number of live tokens per sequence if all sequences start together with `base` tokens and leave
  // when they end: max over x of P(X >= x) (base + x). Log-normal lengths: to about 1e-3.
  [[nodiscard]] double max_live(double base) const;
  // The distribution in about `maximum` cells or fewer, shortest first. The masses sum to 1, and the means and
  // mean squares, weighted by mass, to those of the distribution.
  [[nodiscard]] std::vector<LengthCell> cells(int maximum) const;

  friend bool operator==(const Lengths&, const Lengths&) = default;
  static Lengths parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

[[nodiscard]] Lengths fixed_length(double tokens);

// Multiplies every length by a factor; the truncation of a log-normal distribution stays.
[[nodiscard]] Lengths scaled(Lengths lengths, double factor);

// Truncates the lengths: responses are stopped at `tokens` tokens.
[[nodiscard]] Lengths cut_at(Lengths lengths, double tokens);

}  // namespace sextant
