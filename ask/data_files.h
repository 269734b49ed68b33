// The folder of published data: SEXTANT_DATA, else next to the installed program or Python module, else in the source
// tree.
#pragma once

#include <filesystem>
#include <optional>

namespace sextant::inline ask {

// Throws Error(bad_input) if there is none.
[[nodiscard]] std::filesystem::path data_folder();
// Returns nullopt if there is none. Does not check the content of SEXTANT_DATA.
[[nodiscard]] std::optional<std::filesystem::path> find_data_folder();

}  // namespace sextant::inline ask
