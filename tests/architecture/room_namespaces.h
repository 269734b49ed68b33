// The headers of a room declare what they have in the room's namespace.
//
// Two types of one name in two files compile. In one program, the linker keeps one of the functions that both have, a
// destructor or a vector's growth, for both, and no compiler warns (the one-definition rule). Rooms are top-level
// folders; sextant::planner and the like are inline namespaces, so that callers write sextant::Name or Name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// Returns a sentence for each header of a room with something else than declarations of types in the plain namespace
// sextant, which is that of include/sextant. Throws std::runtime_error if the tree has no source at all.
[[nodiscard]] std::vector<std::string> find_names_outside_rooms(const std::filesystem::path& root);

}  // namespace sextant::architecture
