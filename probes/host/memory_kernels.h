// The loops for measuring memory bandwidth. Each uses the CPU's widest vectors.
#pragma once

#include <cstddef>

namespace sextant::inline probes {

// Sum of count doubles in 32 chains, so that the additions never wait for each other.
[[nodiscard]] double sum_of(const double* values, std::size_t count);

// a = b + scalar * c, STREAM's triad.
void triad(double* a, const double* b, const double* c, double scalar, std::size_t count);

// to = from, with the C library's memcpy, which programs use for copies.
void copy_of(double* to, const double* from, std::size_t count);

}  // namespace sextant::inline probes
