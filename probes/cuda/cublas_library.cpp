#include "probes/cuda/cublas_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace sextant {
namespace {

std::vector<std::string> candidates() {
  const std::string file = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  std::vector<std::string> paths = {file};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* folder = std::getenv(variable)) paths.push_back(std::string(folder) + "/lib64/" + file);
  }
  paths.push_back("/usr/local/cuda/lib64/" + file);
  return paths;
}

// Never closed: its functions are used until the program ends.
void* open_first(std::string& reason) {
  for (const std::string& path : candidates()) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (const char* error = dlerror(); error != nullptr && reason.empty()) reason = error;
  }
  reason = "cuBLAS could not be loaded (" + reason + "): install it or set CUDA_HOME";
  return nullptr;
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::string CublasLibrary::load_from(void* library) {
  if (!find(library, "cublasCreate_v2", create)) return "cublasCreate_v2";
  if (!find(library, "cublasDestroy_v2", destroy)) return "cublasDestroy_v2";
  if (!find(library, "cublasSetStream_v2", set_stream)) return "cublasSetStream_v2";
  if (!find(library, "cublasGetVersion_v2", get_version)) return "cublasGetVersion_v2";
  if (!find(library, "cublasGetStatusString", get_status_string)) return "cublasGetStatusString";
  if (!find(library, "cublasGemmEx", gemm)) return "cublasGemmEx";
  return "";
}

const CublasLibrary* CublasLibrary::open(std::string& reason) {
  static std::string why_not;
  static const std::unique_ptr<const CublasLibrary> opened = []() -> std::unique_ptr<const CublasLibrary> {
    void* library = open_first(why_not);
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
