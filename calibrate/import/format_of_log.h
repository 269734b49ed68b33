// The framework that wrote a log, by the names of its metrics.
#pragma once

#include <filesystem>
#include <string>

namespace sextant::inline calibrate {

// The name of a format of import.h, or "" if the beginning of the file (16 MiB) has the metrics of none, or as many of two.
// A collection of runs says its framework. Throws Error(bad_input) if the file cannot be read.
// A folder has the metrics of its tables (.csv).
[[nodiscard]] std::string format_of_log(const std::filesystem::path& file);

}  // namespace sextant::inline calibrate
