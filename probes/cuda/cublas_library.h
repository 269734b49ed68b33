// cuBLAS, opened when it is first needed, so that the program starts where there is no GPU and no cuBLAS.
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <string>

namespace sextant {

class CublasLibrary {
 public:
  // The library, or null with the reason why not. Looks for the major version that the headers are of: where
  // the loader looks, then in lib64 of CUDA_HOME, CUDA_PATH and /usr/local/cuda.
  [[nodiscard]] static const CublasLibrary* open(std::string& reason);

  // cublasGemmEx, spelt out because the C++ header overloads the name.
  using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                    const void* alpha, const void* a, cudaDataType, int lda, const void* b,
                                    cudaDataType, int ldb, const void* beta, void* c, cudaDataType, int ldc,
                                    cublasComputeType_t, cublasGemmAlgo_t);

  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasGetVersion_v2) get_version = nullptr;
  decltype(&cublasGetStatusString) get_status_string = nullptr;
  GemmEx gemm = nullptr;

 private:
  // The name of a missing function; empty when all are there.
  [[nodiscard]] std::string load_from(void* library);
};

}  // namespace sextant
