// Finds CUPTI at run time: one that the process has loaded already (PyTorch's profiler brings its own), else by
// its name, else where toolkits put it.
#pragma once

#include <string>

#include "probes/trace/injection/cupti_abi.h"

namespace sextant::trace {

struct CuptiLibrary {
  cupti::Functions functions;
  std::string path;            // what was opened
  std::string failure_reason;  // empty: all functions are there

  [[nodiscard]] explicit operator bool() const { return failure_reason.empty(); }
};

// `given`: this file and no other; empty: look for one. The library stays open.
[[nodiscard]] CuptiLibrary open_cupti(const std::string& given);

// CUPTI's own text for a result, with its number.
[[nodiscard]] std::string describe(const CuptiLibrary& library, cupti::Result result);

}  // namespace sextant::trace
