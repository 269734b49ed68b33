// Where the published data is: SEXTANT_DATA, else beside the installed program, else in the source tree.
#pragma once

#include <filesystem>

namespace sextant::cli {

// Throws Error(bad_input) when there is none.
[[nodiscard]] std::filesystem::path data_folder();

}  // namespace sextant::cli
