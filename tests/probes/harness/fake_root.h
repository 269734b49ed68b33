// A folder of small files in place of the root of a file system; removed at the end of the test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "probes/harness/system_files.h"

namespace sextant {

class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sextant-root-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void write(const std::string& path, const std::string& text) const {
    const auto file = root_ / std::filesystem::path(path).relative_path();
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  // Creates a symbolic link to `target`, whether or not that exists.
  void link(const std::string& path, const std::string& target) const {
    const auto file = root_ / std::filesystem::path(path).relative_path();
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  [[nodiscard]] SystemFiles files() const { return SystemFiles(root_); }

 private:
  std::filesystem::path root_;
};

}  // namespace sextant
