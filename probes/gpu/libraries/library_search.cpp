#include "probes/gpu/libraries/library_search.h"

#include <cstdlib>
#include <vector>

namespace sextant::inline probes {
namespace {

std::vector<std::string> candidates(const std::string& file) {
  std::vector<std::string> paths = {file};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* folder = std::getenv(variable)) paths.push_back(std::string(folder) + "/lib64/" + file);
  }
  paths.push_back("/usr/local/cuda/lib64/" + file);
  return paths;
}

}  // namespace

void* open_nvidia_library(const std::string& name, const std::string& file, std::string& reason) {
  std::string first_error;
  for (const std::string& path : candidates(file)) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (const char* error = dlerror(); error != nullptr && first_error.empty()) first_error = error;
  }
  reason = name + " could not be loaded (" + first_error + "): install it or set CUDA_HOME";
  return nullptr;
}

}  // namespace sextant::inline probes
