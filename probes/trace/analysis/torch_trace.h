// The Chrome traces that PyTorch's profiler exports.
#pragma once

#include <filesystem>
#include <string>

#include "probes/trace/analysis/trace_builder.h"

namespace sextant::trace {

// Adds a process. Throws Error(bad_input) for another JSON.
void add_torch_trace(const std::filesystem::path& file, const std::string& text, TraceBuilder& builder);

}  // namespace sextant::trace
