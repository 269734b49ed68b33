// Distribution of prompt or response lengths in tokens.
#pragma once

#include <vector>

#include "core/json.h"

namespace sextant {

enum class LengthKind { fixed, empirical, lognormal };

// In a document one of
//   {"kind": "fixed", "tokens": 1024}
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
  [[nodiscard]] double max_tokens() const;

  friend bool operator==(const Lengths&, const Lengths&) = default;
  static Lengths parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

[[nodiscard]] Lengths fixed_length(double tokens);

}  // namespace sextant
