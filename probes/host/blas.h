// OpenBLAS behind one thin layer: the only file that knows cblas.h is its source.
#pragma once

#include <cstdint>
#include <string>

#include "probes/host/gemm_shapes.h"

namespace sextant {

// Ends the threads that OpenBLAS starts, one a core, before main(), and that first wait for work without sleep;
// it starts them again when there is some.
void end_waiting_blas_threads();

// One thread in OpenBLAS while it lives; then as many as before.
class SingleThreadBlas {
 public:
  SingleThreadBlas();
  ~SingleThreadBlas();
  SingleThreadBlas(const SingleThreadBlas&) = delete;
  SingleThreadBlas& operator=(const SingleThreadBlas&) = delete;

 private:
  int threads_before_;
};

// Version and kernels in use, "OpenBLAS 0.3.21 ... SkylakeX".
[[nodiscard]] std::string gemm_library();

void blas_gemm(const GemmShape& shape, const float* a, const float* b, float* c);
void blas_gemm(const GemmShape& shape, const double* a, const double* b, double* c);

// A 16-bit number as stored; which of the two formats is meant is said beside it.
using HalfBits = std::uint16_t;

enum class HalfFormat { bf16, fp16 };

[[nodiscard]] HalfBits to_half(float value, HalfFormat format);  // nearest; |value| <= 1 is meant
[[nodiscard]] float from_half(HalfBits bits, HalfFormat format);

// 16-bit operands, 32-bit result. Null when the loaded BLAS has no such function.
using HalfGemm = void (*)(const GemmShape& shape, const HalfBits* a, const HalfBits* b, float* c);
[[nodiscard]] HalfGemm find_half_gemm(HalfFormat format);
// The function looked for, "cblas_sbgemm".
[[nodiscard]] std::string half_gemm_symbol(HalfFormat format);

}  // namespace sextant
