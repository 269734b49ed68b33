#include "probes/host/memory_kernels.h"

#include <cstring>

// This file is compiled with -O3 in every build type (see probes/CMakeLists.txt): the loops must vectorise.

#if defined(__x86_64__) && defined(__GNUC__)
#define SEXTANT_FOR_CPU(features) __attribute__((target(features)))
#else
#define SEXTANT_FOR_CPU(features)
#endif
#define SEXTANT_INLINE inline __attribute__((always_inline))

namespace sextant::inline probes {
namespace {

constexpr std::size_t kChains = 32;

SEXTANT_INLINE double sum_loop(const double* values, std::size_t count) {
  double chains[kChains] = {};
  std::size_t at = 0;
  for (; at + kChains <= count; at += kChains) {
    for (std::size_t chain = 0; chain < kChains; ++chain) chains[chain] += values[at + chain];
  }
  double sum = 0;
  for (const double chain : chains) sum += chain;
  for (; at < count; ++at) sum += values[at];
  return sum;
}

SEXTANT_INLINE void triad_loop(double* __restrict a, const double* __restrict b, const double* __restrict c,
                               double scalar, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) a[at] = b[at] + scalar * c[at];
}

// The same loop for each width of vector. Chosen by hand and not with target_clones, whose resolvers run before
// the sanitizers are ready.
SEXTANT_FOR_CPU("avx512f,prefer-vector-width=512") double sum_512(const double* values, std::size_t count) {
  return sum_loop(values, count);
}
SEXTANT_FOR_CPU("avx2,fma") double sum_256(const double* values, std::size_t count) {
  return sum_loop(values, count);
}
double sum_plain(const double* values, std::size_t count) { return sum_loop(values, count); }

SEXTANT_FOR_CPU("avx512f,prefer-vector-width=512")
void triad_512(double* a, const double* b, const double* c, double scalar, std::size_t count) {
  triad_loop(a, b, c, scalar, count);
}
SEXTANT_FOR_CPU("avx2,fma")
void triad_256(double* a, const double* b, const double* c, double scalar, std::size_t count) {
  triad_loop(a, b, c, scalar, count);
}
void triad_plain(double* a, const double* b, const double* c, double scalar, std::size_t count) {
  triad_loop(a, b, c, scalar, count);
}

template <typename Function>
Function widest(Function wide, Function middle, Function plain) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f")) return wide;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return middle;
#else
  static_cast<void>(wide);
  static_cast<void>(middle);
#endif
  return plain;
}

}  // namespace

double sum_of(const double* values, std::size_t count) {
  static const auto function = widest(&sum_512, &sum_256, &sum_plain);
  return function(values, count);
}

void triad(double* a, const double* b, const double* c, double scalar, std::size_t count) {
  static const auto function = widest(&triad_512, &triad_256, &triad_plain);
  function(a, b, c, scalar, count);
}

void copy_of(double* to, const double* from, std::size_t count) {
  std::memcpy(to, from, count * sizeof(double));
}

}  // namespace sextant::inline probes
