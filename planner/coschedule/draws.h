// Random numbers that do not depend on the standard library's distributions: same seed, same numbers everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace sextant::coschedule {

// Bounds of a uniform distribution.
struct Range {
  double low, high;
};

class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) {
    std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U),
                           static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U)};
    engine_.seed(sequence);
  }
  double uniform() { return static_cast<double>(engine_() >> 11U) * 0x1.0p-53; }
  double within(Range range) { return range.low + (range.high - range.low) * uniform(); }
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }
  double log_normal(double mean, double sigma) {
    constexpr double kTwoPi = 6.283185307179586;
    const double normal = std::sqrt(-2 * std::log1p(-uniform())) * std::cos(kTwoPi * uniform());
    return mean * std::exp(sigma * normal - sigma * sigma / 2);
  }
  std::size_t below(std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(uniform() * static_cast<double>(count)));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sextant::coschedule
