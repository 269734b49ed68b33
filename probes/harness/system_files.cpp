#include "probes/harness/system_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace sextant::inline probes {

std::optional<std::string> SystemFiles::text(const std::string& path) const {
  std::ifstream file(root_ / std::filesystem::path(path).relative_path());
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  std::string text = content.str();
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

std::optional<double> SystemFiles::number(const std::string& path) const {
  const auto content = text(path);
  if (!content) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(content->c_str(), &end);
  if (end == content->c_str()) return std::nullopt;
  return value;
}

std::vector<std::string> SystemFiles::list(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = root_ / std::filesystem::path(path).relative_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> SystemFiles::link_target(const std::string& path) const {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(root_ / std::filesystem::path(path).relative_path(), error);
  if (error) return std::nullopt;
  return target.generic_string();
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    char* end = nullptr;
    const long first = std::strtol(part.c_str(), &end, 10);
    if (end == part.c_str()) continue;
    const long last = *end == '-' ? std::strtol(end + 1, nullptr, 10) : first;
    for (long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

double parse_cache_size(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end == 'K') return value * 1024;
  if (*end == 'M') return value * 1024 * 1024;
  return value;
}

}  // namespace sextant::inline probes
