// OpenBLAS behind a thin interface: only its source file includes cblas.h.
#pragma once

#include <cstdint>
#include <string>

#include "probes/host/gemm_shapes.h"

namespace sextant::inline probes {

// Ends the threads that OpenBLAS starts before main(), one per core, and that busy-wait for work at first; it
// starts them again on demand.
void end_waiting_blas_threads();

// Limits OpenBLAS to one thread while it lives; then restores the number.
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

// A stored 16-bit number; a separate HalfFormat says which of the two formats it has.
using HalfBits = std::uint16_t;

enum class HalfFormat { bf16, fp16 };

[[nodiscard]] HalfBits to_half(float value, HalfFormat format);  // to nearest; for |value| <= 1
[[nodiscard]] float from_half(HalfBits bits, HalfFormat format);

// 16-bit operands, 32-bit result. Null if the loaded BLAS has no such function.
using HalfGemm = void (*)(const GemmShape& shape, const HalfBits* a, const HalfBits* b, float* c);
[[nodiscard]] HalfGemm find_half_gemm(HalfFormat format);
// The name of the function, "cblas_sbgemm".
[[nodiscard]] std::string half_gemm_symbol(HalfFormat format);

}  // namespace sextant::inline probes
