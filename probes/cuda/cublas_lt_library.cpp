#include "probes/cuda/cublas_lt_library.h"

#include <memory>

#include "probes/gpu/libraries/library_search.h"
#include "sextant/error.h"

namespace sextant::inline probes {

std::string CublasLtLibrary::load_from(void* library) {
  std::string missing;
  const auto want = [&](const char* name, auto& function) {
    if (!find_function(library, name, function) && missing.empty()) missing = name;
  };
  want("cublasLtCreate", create);
  want("cublasLtGetVersion", get_version);
  want("cublasLtGetStatusString", get_status_string);
  want("cublasLtMatmul", matmul);
  want("cublasLtMatmulDescCreate", create_operation);
  want("cublasLtMatmulDescDestroy", destroy_operation);
  want("cublasLtMatmulDescSetAttribute", set_operation);
  want("cublasLtMatrixLayoutCreate", create_layout);
  want("cublasLtMatrixLayoutDestroy", destroy_layout);
  want("cublasLtMatrixLayoutSetAttribute", set_layout);
  want("cublasLtMatmulPreferenceCreate", create_preference);
  want("cublasLtMatmulPreferenceDestroy", destroy_preference);
  want("cublasLtMatmulPreferenceSetAttribute", set_preference);
  want("cublasLtMatmulAlgoGetHeuristic", find_algorithms);
  want("cublasLtMatmulAlgoConfigGetAttribute", get_algorithm);
  return missing;
}

const CublasLtLibrary* CublasLtLibrary::open(std::string& reason) {
  static std::string failure_reason;
  static const std::unique_ptr<const CublasLtLibrary> opened = []() -> std::unique_ptr<const CublasLtLibrary> {
    void* library =
        open_nvidia_library("cuBLASLt", "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR), failure_reason);
    if (library == nullptr) return nullptr;
    auto functions = std::make_unique<CublasLtLibrary>();
    const std::string missing = functions->load_from(library);
    if (missing.empty()) return functions;
    failure_reason = "the cuBLASLt found has no " + missing;
    return nullptr;
  }();
  reason = failure_reason;
  return opened.get();
}

void CublasLtLibrary::check(cublasStatus_t status, const std::string& doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_machine_failed(std::string("cuBLASLt: ") + get_status_string(status) + " (while " + doing + ")");
}

}  // namespace sextant::inline probes
