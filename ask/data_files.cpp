#include "ask/data_files.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "core/this_program.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

namespace fs = std::filesystem;

// PREFIX/share/sextant/data for a file in a folder of PREFIX, at most `depth` folders below it.
std::optional<fs::path> installed_with(const fs::path& file, int depth) {
  std::error_code fault;
  fs::path folder = file.parent_path();
  for (int i = 0; i < depth && folder.has_relative_path(); ++i) {
    folder = folder.parent_path();
    const fs::path data = folder / "share/sextant/data";
    if (fs::exists(data / "gpus.json", fault)) return data;
  }
  return std::nullopt;
}

// The shared library that holds this code, such as the Python module; nullopt: the program itself.
std::optional<fs::path> shared_library() {
  Dl_info info{};
  const int known = dladdr(reinterpret_cast<const void*>(&find_data_folder), &info);
  if (known == 0 || info.dli_fname == nullptr || !std::string_view(info.dli_fname).ends_with(".so"))
    return std::nullopt;
  std::error_code fault;
  return fs::absolute(info.dli_fname, fault);
}

}  // namespace

std::optional<fs::path> find_data_folder() {
  if (const char* given = std::getenv("SEXTANT_DATA")) return given;
  std::error_code fault;
  if (const std::optional<fs::path> library = shared_library()) {
    constexpr int kMaxDepth = 5;  // lib/python3.11/site-packages/sextant/_sextant.so
    if (auto data = installed_with(*library, kMaxDepth)) return data;
  } else if (auto data = installed_with(this_program(), 1)) {
    return data;
  }
  const fs::path source = SEXTANT_SOURCE_DATA;
  if (!source.empty() && fs::exists(source / "gpus.json", fault)) return source;
  return std::nullopt;
}

std::filesystem::path data_folder() {
  if (auto found = find_data_folder()) return *std::move(found);
  throw_bad_input("data folder not found: set SEXTANT_DATA to the data/ folder");
}

}  // namespace sextant::inline ask
