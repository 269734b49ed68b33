// Seeded random numbers: the same on every machine with the same standard library.
#pragma once

#include <algorithm>
#include <random>

namespace sextant::test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  [[nodiscard]] int integer(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(engine_);
  }
  [[nodiscard]] double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  [[nodiscard]] bool chance(double probability) { return real(0, 1) < probability; }
  template <typename Range>
  void shuffle(Range& range) {
    std::shuffle(range.begin(), range.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

}  // namespace sextant::test
