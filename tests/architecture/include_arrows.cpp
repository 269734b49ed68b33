#include "tests/architecture/include_arrows.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

#include "tests/architecture/source_tree.h"

namespace sextant::architecture {
namespace {

namespace fs = std::filesystem;

// Who may include what, by folder; the longest folder that holds a file decides. A folder stands for all
// below it, so calibrate may include calibrate/import.
struct Room {
  std::string folder;
  std::vector<std::string> may_include;
};

const std::vector<Room>& rooms() {
  static const std::vector<Room> table = {
      {"core", {"core"}},
      {"costmodel/vocabulary", {"core", "costmodel/vocabulary"}},
      {"costmodel", {"core", "costmodel"}},
      {"probes", {"core", "costmodel/vocabulary", "probes"}},
      {"calibrate/import", {"core", "costmodel/vocabulary", "calibrate/import"}},
      {"calibrate", {"core", "costmodel", "calibrate"}},
      {"planner", {"core", "costmodel", "planner"}},
      {"reports", {"core", "costmodel", "probes", "calibrate", "planner", "reports"}},
      {"cli", {"core", "costmodel", "probes", "calibrate", "planner", "reports", "cli"}},
  };
  return table;
}

// Headers of libraries by how their name begins, and the folders that may see them.
const std::vector<Room>& libraries() {
  static const std::vector<Room> table = {
      {"mpi.h", {"probes/comm"}},
      {"cuda", {"probes/cuda", "probes/trace"}},
      {"cublas", {"probes/cuda", "probes/trace"}},
      {"nccl", {"probes/cuda", "probes/trace"}},
      {"cupti", {"probes/cuda", "probes/trace"}},
      {"nvtx", {"probes/cuda", "probes/trace"}},
      {"ceres/", {"calibrate"}},
      {"Eigen/", {"calibrate"}},
      {"cblas", {"probes/host", "probes/proxy"}},
      {"openblas", {"probes/host", "probes/proxy"}},
      {"openssl/", {"probes/network"}},
      {"CLI/", {"cli/command_line"}},
      {"nlohmann/", {"core"}},  // the others go through core/json_value.h
  };
  return table;
}

struct Include {
  std::string name;
  bool quoted = false;  // "ours" as against <theirs>
};

struct SourceFile {
  std::string path;  // relative to the root, with /
  std::vector<Include> includes;
  bool has_pragma_once = false;

  [[nodiscard]] bool is_header() const { return path.ends_with(".h") || path.ends_with(".cuh"); }
};

bool lies_in(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

bool lies_in_any(const std::string& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return lies_in(path, folder); });
}

SourceFile read_source(const fs::path& root, const std::string& path) {
  static const std::regex include_line(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  SourceFile source;
  source.path = path;
  std::ifstream stream(root / path);
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_search(line, match, include_line)) {
      source.includes.push_back({match[2].str(), match[1].str() == "\""});
    }
    source.has_pragma_once = source.has_pragma_once || line.starts_with("#pragma once");
  }
  return source;
}

const Room& room_of(const std::string& path) {
  const Room* found = nullptr;
  for (const Room& room : rooms()) {
    if (lies_in(path, room.folder) && (!found || room.folder.size() > found->folder.size())) found = &room;
  }
  if (!found) throw std::logic_error("no room for " + path);
  return *found;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void check_own_include(const fs::path& root, const SourceFile& source, const std::string& name,
                       std::vector<std::string>& violations) {
  const Room& room = room_of(source.path);
  if (!fs::exists(root / name)) {
    violations.push_back(source.path + " includes \"" + name + "\": not a path from the project's root");
  } else if (!lies_in_any(name, room.may_include)) {
    violations.push_back(source.path + " includes " + name + ": " + room.folder + " may include only " +
                         joined(room.may_include));
  }
}

void check_library_include(const SourceFile& source, const std::string& name,
                           std::vector<std::string>& violations) {
  if (lies_in_any(name, checked_folders())) {
    violations.push_back(source.path + " includes <" + name + ">: the project's own headers go in quotes");
  }
  for (const Room& library : libraries()) {
    if (name.starts_with(library.folder) && !lies_in_any(source.path, library.may_include)) {
      violations.push_back(source.path + " includes " + name + ": that belongs to " +
                           joined(library.may_include) + " only");
    }
  }
}

bool is_library(const std::string& name) {
  return std::any_of(libraries().begin(), libraries().end(),
                     [&](const Room& library) { return name.starts_with(library.folder); });
}

void check_file(const fs::path& root, const SourceFile& source, std::vector<std::string>& violations) {
  for (const Include& include : source.includes) {
    // A library's header in quotes is still the library's.
    if (include.quoted && !is_library(include.name)) {
      check_own_include(root, source, include.name, violations);
    } else {
      check_library_include(source, include.name, violations);
    }
  }
  if (source.is_header() && !source.has_pragma_once) {
    violations.push_back(source.path + ": no #pragma once");
  }
}

// Depth-first search over headers; `open` is the path from where the search began.
class CycleSearch {
 public:
  explicit CycleSearch(const std::vector<SourceFile>& sources) {
    for (const SourceFile& source : sources) {
      if (source.is_header()) headers_[source.path] = &source;
    }
  }

  std::vector<std::string> run() {
    for (const auto& [path, header] : headers_) visit(path);
    return found_;
  }

 private:
  void visit(const std::string& path) {
    const auto header = headers_.find(path);
    if (header == headers_.end() || done_.contains(path)) return;
    const auto again = std::find(open_.begin(), open_.end(), path);
    if (again != open_.end()) {
      found_.push_back(path + " includes itself through " + joined({again + 1, open_.end()}));
      return;
    }
    open_.push_back(path);
    for (const Include& include : header->second->includes) visit(include.name);
    open_.pop_back();
    done_.insert(path);
  }

  std::map<std::string, const SourceFile*> headers_;
  std::vector<std::string> open_;
  std::set<std::string> done_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> find_violations(const fs::path& root) {
  std::vector<SourceFile> sources;
  for (const std::string& path : sources_below(root)) sources.push_back(read_source(root, path));

  std::vector<std::string> violations;
  std::set<std::string> folders_with_sources;
  for (const SourceFile& source : sources) {
    check_file(root, source, violations);
    folders_with_sources.insert(source.path.substr(0, source.path.find('/')));
  }
  for (const std::string& cycle : CycleSearch(sources).run()) violations.push_back(cycle);
  for (const std::string& folder : folders_with_sources) {
    if (!fs::exists(root / folder / "README.md")) violations.push_back(folder + ": no README.md");
  }
  return violations;
}

}  // namespace sextant::architecture
