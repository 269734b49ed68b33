// Tests that no CMakeLists.txt lists, which therefore are never built.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// Files *_test.cpp below root/tests that the CMakeLists.txt of no folder above them names, ascending.
[[nodiscard]] std::vector<std::string> find_unlisted_tests(const std::filesystem::path& root);

}  // namespace sextant::architecture
