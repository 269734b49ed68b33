// Finds the outlier among equal devices, such as a slow GPU of one type, with deviation and confidence.
//
// Rates are compared as logarithms (outlier_statistics.h has the statistics). An outlier is off by more than
// matters in practice and by more than chance: among devices that agree to 0.01 %, one 0.05 % off is no
// outlier. If two differ, neither can be called the outlier; with three it is hardly certain, because the other
// two say little about the spread of equals.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/outliers/outlier_statistics.h"

namespace sextant::inline probes {

struct NamedValue {
  std::string name;
  double value = 0;                       // > 0; a rate or a time
  std::optional<double> spread_fraction;  // half the 95 % interval of the median / median
};

struct OddRule {
  double practical_fraction = 0.05;  // smaller deviations do not matter
  double min_sureness = 0.95;
};

struct OddOne {
  std::string name;
  double off_fraction = 0;  // -0.15: 15 % below the median of the others
  double sure = 0;          // in [0, 1), corrected for the number of tests

  friend bool operator==(const OddOne&, const OddOne&) = default;
};

struct OddOnes {
  std::vector<OddOne> odd;       // the farthest first
  std::vector<OddOne> doubtful;  // as far off, with less confidence than required
  std::string caveat;            // why it cannot tell, or hardly: two or three equals that differ; else empty
};

[[nodiscard]] OddOnes find_odd_ones(std::span<const NamedValue> equals, const OddRule& rule = {});

// "node-3/2 is 15.2 % below the others (99.8 % sure)"
[[nodiscard]] std::string describe(const OddOne& odd);

// "99.8 % sure"; never 100 %.
[[nodiscard]] std::string describe_sure(double sure);

// The logarithm of a measured value and its standard error.
[[nodiscard]] NoisyNumber log_of(double value, std::optional<double> spread_fraction);

// No two measurements of the same device agree better than this, even if three of them appear to.
inline constexpr double kMinDeviation = 1e-3;

}  // namespace sextant::inline probes
