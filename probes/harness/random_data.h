// Random data for measurements: zeros would be faster than any real data.
#pragma once

#include <cstdint>
#include <span>

namespace sextant::inline probes {

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016): fast enough to
// fill buffers of gigabytes, and the same numbers on every machine.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL) {
    if (state_ == 0) state_ = 1;
  }

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  // Returns a number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Returns an integer from 0 to count - 1.
  int below(int count) { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }

 private:
  std::uint64_t state_;
};

// Fills with uniform values in [-1, 1).
template <typename T>
void fill_signed(std::span<T> values, std::uint64_t seed) {
  RandomStream random(seed);
  for (T& value : values) value = static_cast<T>(2 * random.uniform() - 1);
}

}  // namespace sextant::inline probes
