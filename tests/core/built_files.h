// Files of this build that tests start or load.
//
// Their paths are compiled into a source that CMake writes (sextant_add_built_files), and not into a test's own: those
// are then alike in every build folder, and a compiler cache has them for the next one.
#pragma once

#include <string>
#include <string_view>

namespace sextant::test {

// Returns the path of a CMake target's file; empty if the test's CMakeLists.txt does not name the target.
[[nodiscard]] std::string built_file(std::string_view target);

}  // namespace sextant::test
