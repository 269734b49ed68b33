// Random numbers that depend on where they are used, not on the order in which ranks draw them, so that every
// layout of a plan uses the same ones.
#pragma once

#include <cmath>
#include <cstdint>

namespace sextant::proxy {

// Sebastiano Vigna's splitmix64: a hash good enough that nearby counters give independent numbers.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Returns a number in [0, 1), from the 24 bits that a float holds.
[[nodiscard]] inline float uniform(std::uint64_t key) { return static_cast<float>(mix(key) >> 40) * 0x1p-24F; }

// Standard Gumbel noise: the position of the largest logit + noise is a sample from the softmax.
[[nodiscard]] inline float gumbel(std::uint64_t key) {
  constexpr float kHalfStep = 0x1p-25F;  // keeps the argument off 0
  return -std::log(-std::log(uniform(key) + kHalfStep));
}

// Returns the key of the noise for a sequence's first token, in the rollout of this seed.
[[nodiscard]] inline std::uint64_t noise_key(unsigned seed, int sequence) {
  return mix(mix(seed) + static_cast<std::uint64_t>(sequence));
}

}  // namespace sextant::proxy
