// Reads profiles of other tools as a trace of this program: Chrome traces of PyTorch's profiler, also those of AMD and
// Ascend devices, and SQLite exports of Nsight Systems.
#pragma once

#include <filesystem>

#include "probes/trace/analysis/trace.h"

namespace sextant::trace {

// True for a file *.json or *.sqlite, and for a folder that has such files. Throws Error(bad_input) for another file.
[[nodiscard]] bool is_foreign_trace(const std::filesystem::path& path);

// One process for each file. Annotations of the program (record_function, NVTX) are its ranges. Events without a time or
// of other kinds, such as operators on the CPU, are skipped. Throws Error(bad_input) with the file for another content.
[[nodiscard]] Trace load_foreign_traces(const std::filesystem::path& path);

}  // namespace sextant::trace
