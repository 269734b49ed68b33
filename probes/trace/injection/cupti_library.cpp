#include "probes/trace/injection/cupti_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace sextant::trace {
namespace {

// The newest first; the plain name is what toolkits link for developers.
const std::vector<std::string>& names() {
  static const std::vector<std::string> all{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  return all;
}

std::vector<std::string> folders() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      roots.emplace_back(value);
  }
  roots.emplace_back("/usr/local/cuda");
  std::vector<std::string> all;
  for (const std::string& root : roots) {
    for (const char* below : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"}) all.push_back(root + below);
  }
  return all;
}

void* open_any(std::string& path, std::string& reason) {
  for (const std::string& name : names()) {
    path = name;
    if (void* loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD)) return loaded;
  }
  for (const std::string& name : names()) {
    path = name;
    if (void* found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  }
  if (const char* error = dlerror()) reason = error;
  for (const std::string& folder : folders()) {
    for (const std::string& name : names()) {
      path = folder + name;
      if (void* found = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
    }
  }
  return nullptr;
}

template <typename Pointer>
bool find(void* library, const char* name, Pointer& function, std::string& missing) {
  function = reinterpret_cast<Pointer>(dlsym(library, name));
  if (function == nullptr) missing = name;
  return function != nullptr;
}

std::string find_functions(void* library, cupti::Functions& all) {
  std::string missing;
  const bool is_whole =
      find(library, "cuptiSubscribe", all.subscribe, missing) &&
      find(library, "cuptiUnsubscribe", all.unsubscribe, missing) &&
      find(library, "cuptiActivityEnable", all.activity_enable, missing) &&
      find(library, "cuptiActivityDisable", all.activity_disable, missing) &&
      find(library, "cuptiActivityRegisterCallbacks", all.activity_register_callbacks, missing) &&
      find(library, "cuptiActivityFlushAll", all.activity_flush_all, missing) &&
      find(library, "cuptiActivityGetNextRecord", all.activity_get_next_record, missing) &&
      find(library, "cuptiActivityGetNumDroppedRecords", all.activity_get_num_dropped_records, missing) &&
      find(library, "cuptiGetTimestamp", all.get_timestamp, missing) &&
      find(library, "cuptiGetVersion", all.get_version, missing) &&
      find(library, "cuptiGetResultString", all.get_result_string, missing);
  return is_whole ? "" : "it lacks " + missing;
}

}  // namespace

CuptiLibrary open_cupti(const std::string& given) {
  CuptiLibrary library;
  std::string reason;
  void* handle = nullptr;
  if (given.empty()) {
    handle = open_any(library.path, reason);
  } else {
    library.path = given;
    handle = dlopen(given.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* error = handle == nullptr ? dlerror() : nullptr;
    if (error != nullptr) reason = error;
  }
  if (handle == nullptr) {
    library.failure_reason = "no libcupti was found (" + reason + ")";
    return library;
  }
  const std::string lacking = find_functions(handle, library.functions);
  if (!lacking.empty()) library.failure_reason = library.path + " is of no use: " + lacking;
  return library;
}

std::string describe(const CuptiLibrary& library, cupti::Result result) {
  const char* text = nullptr;
  if (library) library.functions.get_result_string(result, &text);
  return (text == nullptr ? std::string("error") : std::string(text)) + " (" + std::to_string(result) + ")";
}

}  // namespace sextant::trace
