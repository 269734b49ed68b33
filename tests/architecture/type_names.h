// Reads the types and constants in the project's namespaces and reports names with two definitions.
//
// Two types of one name in two files compile. In one program, the linker keeps one of the functions that both
// have, a destructor or a vector's growth, for both, and no compiler warns (the one-definition rule).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// Returns one sentence for each name, sorted: "sextant::Run is defined in sextant/run.h and in
// planner/exact/unit_space.h". It covers classes, enumerations, aliases and constants at namespace level, in
// headers and sources; names in anonymous namespaces are local to their file. It reads clang-formatted code:
// a definition at namespace level begins its line. Throws std::runtime_error if the tree has no source at
// all.
[[nodiscard]] std::vector<std::string> find_odr_clashes(const std::filesystem::path& root);

}  // namespace sextant::architecture
