// A file that lives as long as this object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sextant::test {

class ConfigurationFile {
 public:
  ConfigurationFile(const std::string& name, const std::string& text) {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("sextant_import_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / name;
    std::ofstream(path_) << text;
  }
  ~ConfigurationFile() { std::filesystem::remove_all(folder_); }
  ConfigurationFile(const ConfigurationFile&) = delete;
  ConfigurationFile& operator=(const ConfigurationFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace sextant::test
