// Distribution of prompt or response lengths in tokens.
#pragma once

#include <vector>

#include "sextant/json.h"

namespace sextant {

enum class LengthKind { fixed, empirical, lognormal };

// Lengths that lie next to each other.
struct LengthCell {
  double mass = 0;         // probability
  double mean = 0;         // of a length in it
  double mean_square = 0;  // likewise
};

// In a document one of
//   {"kind": "fixed", "tokens": 1024}                                  0: none, as in a training step alone
//   {"kind": "empirical", "tokens": [100, 200], "weights": [1, 3]}     weights are normalised on use
//   {"kind": "lognormal", "median": 800, "sigma": 0.6, "max": 4096}    mass beyond max lies at max
struct Lengths {
  LengthKind kind = LengthKind::fixed;
  std::vector<double> tokens;   // fixed: one; empirical: support, ascending
  std::vector<double> weights;  // empirical
  double median = 0;            // lognormal
  double sigma = 0;             // lognormal, of the logarithm
  double max = 0;               // lognormal, truncation

  [[nodiscard]] double mean_tokens() const;
  [[nodiscard]] double mean_square_tokens() const;  // E[X^2]
  [[nodiscard]] double max_tokens() const;
  // E[max of n independent lengths], n >= 1, not necessarily whole: the last response of a batch decides when
  // generation ends. Exact for fixed and empirical lengths; by quadrature of 1 - F^n, to about 1e-6, for
  // log-normal ones.
  [[nodiscard]] double longest_of(double n) const;
  // The least length that a response exceeds with probability 1 - p at most; 0 < p <= 1. Log-normal: to 1e-12
  // of the deviations.
  [[nodiscard]] double quantile(double p) const;
  // Most tokens that sequences of `base` tokens and a response hold when they start together and leave as they
  // end, a sequence: max over x of P(X >= x) (base + x). Log-normal lengths: to about 1e-3.
  [[nodiscard]] double max_live(double base) const;
  // The distribution in at most about `most` cells, shortest first: their masses sum to 1, their means and mean
  // squares, weighed by mass, to those of all.
  [[nodiscard]] std::vector<LengthCell> cells(int maximum) const;

  friend bool operator==(const Lengths&, const Lengths&) = default;
  static Lengths parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

[[nodiscard]] Lengths fixed_length(double tokens);

// Every length times a factor; the truncation of a log-normal distribution stays.
[[nodiscard]] Lengths scaled(Lengths lengths, double factor);

// Responses that are stopped at so many tokens.
[[nodiscard]] Lengths cut_at(Lengths lengths, double tokens);

}  // namespace sextant
