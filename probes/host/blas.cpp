#include "probes/host/blas.h"

#include <cblas.h>
#include <dlfcn.h>

namespace sextant::inline probes {
namespace {

int row_length_b(const GemmShape& shape) { return shape.transpose_b ? shape.k : shape.n; }

CBLAS_TRANSPOSE transpose_of(const GemmShape& shape) { return shape.transpose_b ? CblasTrans : CblasNoTrans; }

using CblasHalfGemm = void (*)(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint, blasint, blasint, float,
                               const HalfBits*, blasint, const HalfBits*, blasint, float, float*, blasint);

// Looked up in what is loaded, because most builds of OpenBLAS leave these functions out.
CblasHalfGemm loaded_gemm(HalfFormat format) {
  return reinterpret_cast<CblasHalfGemm>(dlsym(RTLD_DEFAULT, half_gemm_symbol(format).c_str()));
}

template <HalfFormat format>
void half_gemm(const GemmShape& shape, const HalfBits* a, const HalfBits* b, float* c) {
  static const CblasHalfGemm function = loaded_gemm(format);
  function(CblasRowMajor, CblasNoTrans, transpose_of(shape), shape.m, shape.n, shape.k, 1.0F, a, shape.k, b,
           row_length_b(shape), 0.0F, c, shape.n);
}

}  // namespace

// OpenBLAS calls this function itself before a fork. Builds without threads have none.
void end_waiting_blas_threads() {
  using Shutdown = int (*)();
  const auto shutdown = reinterpret_cast<Shutdown>(dlsym(RTLD_DEFAULT, "blas_thread_shutdown_"));
  if (shutdown != nullptr) (void)shutdown();
}

SingleThreadBlas::SingleThreadBlas() : threads_before_(openblas_get_num_threads()) {
  openblas_set_num_threads(1);
}

SingleThreadBlas::~SingleThreadBlas() { openblas_set_num_threads(threads_before_); }

std::string gemm_library() { return openblas_get_config(); }

void blas_gemm(const GemmShape& shape, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_of(shape), shape.m, shape.n, shape.k, 1.0F, a, shape.k, b,
              row_length_b(shape), 0.0F, c, shape.n);
}

void blas_gemm(const GemmShape& shape, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, transpose_of(shape), shape.m, shape.n, shape.k, 1.0, a, shape.k, b,
              row_length_b(shape), 0.0, c, shape.n);
}

std::string half_gemm_symbol(HalfFormat format) {
  return format == HalfFormat::bf16 ? "cblas_sbgemm" : "cblas_shgemm";
}

HalfGemm find_half_gemm(HalfFormat format) {
  if (loaded_gemm(format) == nullptr) return nullptr;
  return format == HalfFormat::bf16 ? &half_gemm<HalfFormat::bf16> : &half_gemm<HalfFormat::fp16>;
}

}  // namespace sextant::inline probes
