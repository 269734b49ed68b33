// The odd one among equals: a slow GPU among GPUs of one type, by how much, and how sure.
//
// Rates are compared as logarithms (probes/fleet/deviants.h has the statistics). Odd is what is off by more
// than matters in practice and by more than chance: equals that agree to 0.01 % make nothing odd that is 0.05 %
// off. Of two that differ nobody can tell which one is odd; of three one can hardly be sure, because the other
// two say little about how far equals are apart.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/fleet/compare/outlier_statistics.h"

namespace sextant {

struct NamedValue {
  std::string name;
  double value = 0;                       // > 0; a rate or a time
  std::optional<double> spread_fraction;  // half the 95 % interval of the median / median
};

struct OddRule {
  double practical_fraction = 0.05;  // what is less far off does not matter
  double min_sureness = 0.95;
};

struct OddOne {
  std::string name;
  double off_fraction = 0;  // -0.15: 15 % below the median of the others
  double sure = 0;          // in [0, 1), corrected for how many were looked at

  friend bool operator==(const OddOne&, const OddOne&) = default;
};

struct OddOnes {
  std::vector<OddOne> odd;       // the farthest first
  std::vector<OddOne> doubtful;  // as far off, and less sure than asked
  std::string caveat;            // why one cannot tell, or hardly: two or three equals that differ; else empty
};

[[nodiscard]] OddOnes find_odd_ones(std::span<const NamedValue> equals, const OddRule& rule = {});

// "node-3/2 is 15.2 % below the others (99.8 % sure)"
[[nodiscard]] std::string describe(const OddOne& odd);

// "99.8 % sure"; never 100 %.
[[nodiscard]] std::string describe_sure(double sure);

// The logarithm of a measured value and its standard error.
[[nodiscard]] NoisyNumber log_of(double value, std::optional<double> spread_fraction);

// No two measurements of the same thing agree better than this, whatever three of them say.
inline constexpr double kMinDeviation = 1e-3;

}  // namespace sextant
