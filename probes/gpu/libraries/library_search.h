// NVIDIA's libraries, opened when they are first needed, so that the program starts where there are none.
#pragma once

#include <string>

#include <dlfcn.h>

namespace sextant {

// Looks for `file` ("libcublasLt.so.13") where the loader looks, then in lib64 of CUDA_HOME, CUDA_PATH and
// /usr/local/cuda. Null with the loader's reason and what to do in `reason`. Never closed: functions of these
// libraries are used until the program ends.
[[nodiscard]] void* open_nvidia_library(const std::string& name, const std::string& file, std::string& reason);

template <typename Function>
[[nodiscard]] bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace sextant
