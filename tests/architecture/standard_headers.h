// Reads the std:: names of the project's headers and reports those that no include declares.
//
// Libraries are compiled with the most common standard headers precompiled (cmake/SextantTargets.cmake), so
// that the compiler does not notice a missing include. A program that includes an installed header does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// Returns one sentence for each header and name, sorted: "core/csv.h names std::function without <functional>".
// Includes of project headers count for the files that include them; includes among standard headers do not.
// Throws std::runtime_error if the tree has no header at all.
[[nodiscard]] std::vector<std::string> find_missing_standard_headers(const std::filesystem::path& root);

}  // namespace sextant::architecture
