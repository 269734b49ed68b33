// The files of a source tree that the checkers of this folder read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// Returns the top-level folders that are checked; all other files are ignored.
[[nodiscard]] const std::vector<std::string>& checked_folders();

// Returns their C++ and CUDA headers and sources, relative to the root, sorted. Throws std::runtime_error if
// there is none.
[[nodiscard]] std::vector<std::string> sources_below(const std::filesystem::path& root);

}  // namespace sextant::architecture
