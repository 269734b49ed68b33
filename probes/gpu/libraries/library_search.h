// NVIDIA's libraries, opened on first use, so that the program also starts on machines without them.
#pragma once

#include <string>

#include <dlfcn.h>

namespace sextant::inline probes {

// Looks for `file` ("libcublasLt.so.13") in the loader's paths, then in lib64 of CUDA_HOME, CUDA_PATH and
// /usr/local/cuda. Returns null, with the loader's reason and the remedy in `reason`. Never closed: functions
// of these libraries are used until the program ends.
[[nodiscard]] void* open_nvidia_library(const std::string& name, const std::string& file, std::string& reason);

template <typename Function>
[[nodiscard]] bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace sextant::inline probes
