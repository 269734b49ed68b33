#include "cli/shared/data_files.h"

#include <cstdlib>
#include <system_error>

#include "cli/shared/this_program.h"
#include "sextant/error.h"

namespace sextant::cli {

std::optional<std::filesystem::path> find_data_folder() {
  if (const char* given = std::getenv("SEXTANT_DATA")) return given;
  std::error_code fault;
  const std::filesystem::path installed = this_program().parent_path().parent_path() / "share/sextant/data";
  if (std::filesystem::exists(installed / "gpus.json", fault)) return installed;
  if (std::filesystem::exists(std::filesystem::path(SEXTANT_SOURCE_DATA) / "gpus.json", fault)) {
    return SEXTANT_SOURCE_DATA;
  }
  return std::nullopt;
}

std::filesystem::path data_folder() {
  if (auto found = find_data_folder()) return *std::move(found);
  throw_bad_input("data folder not found: set SEXTANT_DATA to the data/ folder");
}

}  // namespace sextant::cli
