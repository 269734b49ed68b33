// One process's file after reading, before its times are converted to the common clock.
#pragma once

#include <map>
#include <string>

#include "probes/trace/analysis/clocks.h"
#include "probes/trace/analysis/trace.h"
#include "probes/trace/record/chunk_reader.h"

namespace sextant::trace {

struct DeviceFacts {
  std::string name, uuid;
};

struct ReadProcess {
  Process process;
  ReadChunks chunks;
  ProcessClocks clocks;
  std::map<int, DeviceFacts> devices;  // by the process's own device number
};

// Accepts any content: unreadable parts are counted in the process.
[[nodiscard]] ReadProcess read_process(const TraceFileText& file);

}  // namespace sextant::trace
