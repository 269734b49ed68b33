#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace sextant::architecture {

namespace fs = std::filesystem;

const std::vector<std::string>& checked_folders() {
  static const std::vector<std::string> folders = {"include", "core",      "documents", "costmodel",
                                                   "probes",  "calibrate", "planner",   "reports",
                                                   "ask",     "cli",       "python",    "lab"};
  return folders;
}

std::vector<std::string> sources_below(const fs::path& root) {
  static const std::set<std::string> endings = {".h", ".cpp", ".cu", ".cuh"};
  std::vector<std::string> sources;
  for (const std::string& folder : checked_folders()) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !endings.contains(entry.path().extension().string())) continue;
      sources.push_back(fs::relative(entry.path(), root).generic_string());
    }
  }
  if (sources.empty()) throw std::runtime_error("no source files below " + root.string());
  std::sort(sources.begin(), sources.end());
  return sources;
}

}  // namespace sextant::architecture
