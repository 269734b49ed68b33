// Small text files of the kernel below a root that tests replace.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::inline probes {

class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  // Returns the text without trailing blanks; nullopt if there is no such file or it cannot be read.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const;
  [[nodiscard]] std::optional<double> number(const std::string& path) const;
  // Names in a folder, sorted; empty if there is none.
  [[nodiscard]] std::vector<std::string> list(const std::string& path) const;
  // Returns the target of a symbolic link, unresolved; nullopt if it is not one.
  [[nodiscard]] std::optional<std::string> link_target(const std::string& path) const;

 private:
  std::filesystem::path root_;
};

// Parses the kernel's format for sets of CPUs: "0-2,8" is {0, 1, 2, 8}.
[[nodiscard]] std::vector<int> parse_cpu_list(const std::string& text);

// Parses the kernel's format for cache sizes, "32768K", to bytes; 0 if it is not a size.
[[nodiscard]] double parse_cache_size(const std::string& text);

}  // namespace sextant::inline probes
