// Finds CUPTI at run time: a library that the process has already loaded (PyTorch's profiler brings its own),
// else by its name, else in the toolkits' folders.
#pragma once

#include <string>

#include "probes/trace/injection/cupti_abi.h"

namespace sextant::trace {

struct CuptiLibrary {
  cupti::Functions functions;
  std::string path;            // the opened file
  std::string failure_reason;  // empty: all functions were found

  [[nodiscard]] explicit operator bool() const { return failure_reason.empty(); }
};

// `given`: use only this file; empty: search for one. The library stays open.
[[nodiscard]] CuptiLibrary open_cupti(const std::string& given);

// Returns CUPTI's own text for a result, with its number.
[[nodiscard]] std::string describe(const CuptiLibrary& library, cupti::Result result);

}  // namespace sextant::trace
