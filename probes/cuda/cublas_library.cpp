#include "probes/cuda/cublas_library.h"

#include "probes/cuda/library_search.h"

namespace sextant {

std::string CublasLibrary::load_from(void* library) {
  if (!find_function(library, "cublasCreate_v2", create)) return "cublasCreate_v2";
  if (!find_function(library, "cublasDestroy_v2", destroy)) return "cublasDestroy_v2";
  if (!find_function(library, "cublasSetStream_v2", set_stream)) return "cublasSetStream_v2";
  if (!find_function(library, "cublasGetVersion_v2", get_version)) return "cublasGetVersion_v2";
  if (!find_function(library, "cublasGetStatusString", get_status_string)) return "cublasGetStatusString";
  if (!find_function(library, "cublasGemmEx", gemm)) return "cublasGemmEx";
  return "";
}

const CublasLibrary* CublasLibrary::open(std::string& reason) {
  static std::string why_not;
  static const std::unique_ptr<const CublasLibrary> opened = []() -> std::unique_ptr<const CublasLibrary> {
    void* library = open_nvidia_library("cuBLAS", "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR), why_not);
    if (library == nullptr) return nullptr;
    auto functions = std::make_unique<CublasLibrary>();
    const std::string missing = functions->load_from(library);
    if (missing.empty()) return functions;
    why_not = "the cuBLAS found has no " + missing;
    return nullptr;
  }();
  reason = why_not;
  return opened.get();
}

}  // namespace sextant
