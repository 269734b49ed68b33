// Where the published data is: SEXTANT_DATA, else beside the installed program, else in the source tree.
#pragma once

#include <filesystem>
#include <optional>

namespace sextant::cli {

// Throws Error(bad_input) when there is none.
[[nodiscard]] std::filesystem::path data_folder();
// Nothing when there is none. What SEXTANT_DATA says is not looked at.
[[nodiscard]] std::optional<std::filesystem::path> find_data_folder();

}  // namespace sextant::cli
