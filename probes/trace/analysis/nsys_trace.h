// The SQLite databases that Nsight Systems exports ("nsys export --type sqlite").
#pragma once

#include <filesystem>
#include <string>

#include "probes/trace/analysis/trace_builder.h"

namespace sextant::trace {

// Adds a process. Throws Error(bad_input) for another file.
void add_nsys_trace(const std::filesystem::path& file, const std::string& bytes, TraceBuilder& builder);

}  // namespace sextant::trace
