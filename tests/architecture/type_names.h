// Reads the types and constants that the project's namespaces hold and says where one name means two things.
//
// Two types of one name in two files compile. Linked into one program, the linker keeps one of what both have,
// a destructor or a vector's growth, for both, and no compiler warns (the one-definition rule).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// One sentence for each name, sorted: "sextant::Run is defined in sextant/run.h and in
// planner/exact/unit_space.h". Of classes, enumerations, aliases and constants at the level of a namespace, in
// headers and sources; what anonymous namespaces hold is each file's own. Reads what clang-format has
// formatted: a definition at namespace level begins its line. Throws std::runtime_error when the tree has no
// source at all.
[[nodiscard]] std::vector<std::string> find_odr_clashes(const std::filesystem::path& root);

}  // namespace sextant::architecture
