// RAII descriptors of cuBLASLt. It is column-major: a row-major [r x c] matrix is its [c x r], so D = A B
// becomes D' = B' A', with A and B exchanged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/cuda/cublas_lt_library.h"
#include "probes/cuda/lt_matmul.h"

namespace sextant::inline probes {

class LtLayout {
 public:
  // The matrix is row-major.
  LtLayout(const CublasLtLibrary& library, cudaDataType_t type, std::int64_t rows, std::int64_t columns,
           std::int64_t leading, int batch, std::int64_t stride);
  ~LtLayout();
  LtLayout(const LtLayout&) = delete;
  LtLayout& operator=(const LtLayout&) = delete;
  [[nodiscard]] cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  const CublasLtLibrary& library_;
  cublasLtMatrixLayout_t layout_ = nullptr;
};

struct LtDescriptors {
  LtDescriptors(const CublasLtLibrary& library, const LtMatmulSpec& spec);
  ~LtDescriptors();
  LtDescriptors(const LtDescriptors&) = delete;
  LtDescriptors& operator=(const LtDescriptors&) = delete;

  // Returns at most spec.candidates algorithms, best guess first; empty if there is none.
  [[nodiscard]] std::vector<cublasLtMatmulHeuristicResult_t> find(cublasLtHandle_t handle,
                                                                  const LtMatmulSpec& spec) const;

  const CublasLtLibrary& library;
  LtLayout a;
  LtLayout b;
  LtLayout c;
  LtLayout d;
  cublasLtMatmulDesc_t operation = nullptr;
};

// Plans a product with this library, on the current device; see lt_matmul.h.
[[nodiscard]] LtMatmulOrReason plan_lt_matmul(const CublasLtLibrary& library, const LtMatmulSpec& spec);

// Throws Error(bad_input) for an invalid specification.
void check_lt_spec(const LtMatmulSpec& spec);
// "tile 20, stages 4 ..." of an algorithm.
[[nodiscard]] std::string describe_lt_algorithm(const CublasLtLibrary& library,
                                                const cublasLtMatmulAlgo_t& algorithm);

}  // namespace sextant::inline probes
