// The files of a source tree that the checkers of this folder read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// The top-level folders that are checked; everything else in the tree is left alone.
[[nodiscard]] const std::vector<std::string>& checked_folders();

// Headers and sources of C++ and CUDA in them, relative to the root, sorted. Throws std::runtime_error when
// there is none.
[[nodiscard]] std::vector<std::string> sources_below(const std::filesystem::path& root);

}  // namespace sextant::architecture
