#pragma once

#include <filesystem>

namespace sextant::inline core {

// Returns the file of the running program. If /proc is not mounted (in a bare chroot) it is looked up as a shell does;
// empty if that fails too.
[[nodiscard]] std::filesystem::path this_program();

}  // namespace sextant::inline core
