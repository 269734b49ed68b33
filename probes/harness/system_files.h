// Small text files of the kernel below a root that tests replace.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  // Without blanks at the end; nothing when there is no such file or it cannot be read.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const;
  [[nodiscard]] std::optional<double> number(const std::string& path) const;
  // Names in a folder, sorted; empty when there is none.
  [[nodiscard]] std::vector<std::string> list(const std::string& path) const;
  // What a symbolic link says, unresolved; nothing when it is none.
  [[nodiscard]] std::optional<std::string> link_target(const std::string& path) const;

 private:
  std::filesystem::path root_;
};

// "0-2,8" is {0, 1, 2, 8}, as the kernel writes sets of CPUs.
[[nodiscard]] std::vector<int> parse_cpu_list(const std::string& text);

// "32768K" in bytes, as the kernel writes cache sizes; 0 when it is not a size.
[[nodiscard]] double parse_cache_size(const std::string& text);

}  // namespace sextant
