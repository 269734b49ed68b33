// cuBLASLt, opened on first use.
#pragma once

#include <cublasLt.h>

#include <string>

namespace sextant::inline probes {

class CublasLtLibrary {
 public:
  // Returns the library, or null with the reason. It has the major version of the headers.
  [[nodiscard]] static const CublasLtLibrary* open(std::string& reason);

  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtGetStatusString) get_status_string = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_operation = nullptr;
  decltype(&cublasLtMatmulDescDestroy) destroy_operation = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_operation = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) find_algorithms = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) get_algorithm = nullptr;

  // Throws Error(machine): "cuBLASLt: <its own text> (while <doing>)".
  void check(cublasStatus_t status, const std::string& doing) const;

 private:
  // Returns the name of a missing function; empty if all are found.
  [[nodiscard]] std::string load_from(void* library);
};

}  // namespace sextant::inline probes
