// Reads the std:: names of the project's headers and says where no include brings them.
//
// Libraries are compiled with the commonest standard headers precompiled (cmake/SextantTargets.cmake), so that
// the compiler does not notice a header that forgets one of them. Whoever includes an installed header does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// One sentence for each header and name, sorted by header: "core/csv.h names std::function without
// <functional>". What the project's own headers include counts for those that include them; what standard
// headers include of each other does not. Throws std::runtime_error when the tree has no header at all.
[[nodiscard]] std::vector<std::string> find_missing_standard_headers(const std::filesystem::path& root);

}  // namespace sextant::architecture
