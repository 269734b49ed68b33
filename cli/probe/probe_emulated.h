// sextant probe --emulate: clusters of papers, for planning. None of their numbers is measured, and each one is
// marked so.
#pragma once

#include <string>
#include <vector>

namespace sextant::cli {

// "hetrl-1" to "hetrl-4": HetRL's networks (section 5.1), single region to continents.
[[nodiscard]] std::vector<std::string> emulated_names();

// Writes the document to `out`, or prints it if `out` is empty or `json` is set. Returns the exit code.
[[nodiscard]] int probe_emulated(const std::string& name, const std::string& out, bool json);

}  // namespace sextant::cli
