// A temporary source tree of a test, into which faults are planted for a checker to find.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sextant::architecture {

class PlantedTree : public ::testing::Test {
 protected:
  PlantedTree() : root_(std::filesystem::path(::testing::TempDir()) / ("planted-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
  }
  ~PlantedTree() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace sextant::architecture
