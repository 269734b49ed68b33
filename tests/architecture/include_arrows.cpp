#include "tests/architecture/include_arrows.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <utility>

#include "tests/architecture/source_tree.h"

namespace sextant::architecture {
namespace {

namespace fs = std::filesystem;

// The folders that each folder may include; the longest folder that holds a file decides. A folder stands for
// all below it, so calibrate may include calibrate/import.
struct Room {
  std::string folder;
  std::vector<std::string> may_include;
};

const std::vector<Room>& rooms() {
  static const std::vector<Room> table = {
      {"core", {"core"}},
      {"documents", {"core", "documents"}},
      {"costmodel", {"core", "documents", "costmodel"}},
      {"probes", {"core", "documents", "probes"}},
      {"calibrate/import", {"core", "documents", "calibrate/import"}},
      {"calibrate", {"core", "documents", "costmodel", "calibrate"}},
      {"planner", {"core", "documents", "costmodel", "planner"}},
      {"reports", {"core", "documents", "costmodel", "probes", "calibrate", "planner", "reports"}},
      {"ask", {"core", "documents", "costmodel", "calibrate", "planner", "reports", "ask"}},
      // The client of permits that programs copy is the one that the proxy uses.
      {"cli",
       {"core", "documents", "costmodel", "probes", "calibrate", "planner", "reports", "ask", "cli",
        "examples/coschedule"}},
      {"python", {"core", "documents", "costmodel", "calibrate", "planner", "ask", "python"}},
      {"lab",
       {"core", "documents", "costmodel", "probes", "calibrate", "planner", "reports", "ask", "cli", "lab"}},
  };
  return table;
}

// Headers for everybody, include/sextant/NAME.h, and the room that holds their sources. For the arrows they lie
// there.
const std::map<std::string, std::string>& public_headers() {
  static const std::map<std::string, std::string> homes = [] {
    std::map<std::string, std::string> all;
    const auto add = [&](const std::string& home, const std::vector<std::string>& names) {
      for (const std::string& name : names) all["include/sextant/" + name + ".h"] = home;
    };
    add("core", {"document", "error", "ids", "json", "provenance", "statistics"});
    add("documents/values", {"lengths", "model", "precision", "quantity"});
    add("documents", {"cluster", "coefficients", "execution", "fit_summary", "framework_profile", "plan",
                      "prediction", "rollout", "run", "search", "workflow"});
    add("costmodel", {"predict"});
    add("calibrate", {"fit", "trust"});
    add("planner/request", {"objective", "planner", "profile_space", "search_space", "task_choices"});
    add("planner/coschedule", {"coschedule"});
    add("planner", {"planners"});
    return all;
  }();
  return homes;
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
      {"yaml-cpp/", {"reports/import"}},
      {"toml++/", {"reports/import"}},
      {"pybind11/", {"python"}},
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

// The file that `#include "name"` names, from the project's root.
std::string included_path(const std::string& name) {
  return name.starts_with("sextant/") ? "include/" + name : name;
}

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The path by which a file counts for the arrows between rooms.
std::string place_of(const std::string& path) {
  const auto home = public_headers().find(path);
  return home == public_headers().end() ? path : home->second + "/" + file_name_of(path);
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
  const std::string place = place_of(path);
  for (const Room& room : rooms()) {
    if (lies_in(place, room.folder) && (!found || room.folder.size() > found->folder.size())) found = &room;
  }
  if (!found) throw std::logic_error("no room for " + path);
  return *found;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

void check_own_include(const fs::path& root, const SourceFile& source, const std::string& name,
                       std::vector<std::string>& violations) {
  const std::string path = included_path(name);
  if (!fs::exists(root / path)) {
    violations.push_back(source.path + " includes \"" + name + "\": not a path from the project's root");
  } else if (public_headers().contains(source.path) && !public_headers().contains(path)) {
    violations.push_back(source.path + " includes " + name +
                         ": a public header may include only public headers");
  } else if (const Room& room = room_of(source.path); !lies_in_any(place_of(path), room.may_include)) {
    violations.push_back(source.path + " includes " + name + ": " + room.folder + " may include only " +
                         joined(room.may_include));
  }
}

void check_library_include(const SourceFile& source, const std::string& name,
                           std::vector<std::string>& violations) {
  if (lies_in_any(included_path(name), checked_folders())) {
    violations.push_back(source.path + " includes <" + name + ">: the project's own headers go in quotes");
  }
  for (const Room& library : libraries()) {
    if (name.starts_with(library.folder) && !lies_in_any(place_of(source.path), library.may_include)) {
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

// A directed graph of names; find_cycles follows the arrows depth first.
using Graph = std::map<std::string, std::set<std::string>>;

class CycleSearch {
 public:
  explicit CycleSearch(const Graph& graph) : graph_(graph) {}

  // Each cycle as the names on it, the first repeated at the end.
  std::vector<std::vector<std::string>> run() {
    for (const auto& [name, arrows] : graph_) visit(name);
    return found_;
  }

 private:
  void visit(const std::string& name) {
    const auto node = graph_.find(name);
    if (node == graph_.end() || done_.contains(name)) return;
    const auto again = std::find(open_.begin(), open_.end(), name);
    if (again != open_.end()) {
      std::vector<std::string> cycle(again, open_.end());
      cycle.push_back(name);
      found_.push_back(cycle);
      return;
    }
    open_.push_back(name);
    for (const std::string& next : node->second) visit(next);
    open_.pop_back();
    done_.insert(name);
  }

  const Graph& graph_;
  std::vector<std::string> open_;
  std::set<std::string> done_;
  std::vector<std::vector<std::string>> found_;
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

void check_headers(const std::vector<SourceFile>& sources, std::vector<std::string>& violations) {
  Graph headers;
  for (const SourceFile& source : sources) {
    if (!source.is_header()) continue;
    for (const Include& include : source.includes) headers[source.path].insert(included_path(include.name));
  }
  for (const auto& cycle : CycleSearch(headers).run()) {
    violations.push_back(cycle.front() + " includes itself through " +
                         joined({cycle.begin() + 1, cycle.end() - 1}));
  }
}

// No two folders include each other, directly or through others, at any depth. Each arrow of a cycle is named
// by one include that draws it.
void check_folders(const std::vector<SourceFile>& sources, std::vector<std::string>& violations) {
  Graph folders;
  std::map<std::pair<std::string, std::string>, std::string> drawn_by;
  for (const SourceFile& source : sources) {
    const std::string from = folder_of(place_of(source.path));
    for (const Include& include : source.includes) {
      const std::string place = place_of(included_path(include.name));
      if (!include.quoted || !lies_in_any(place, room_of(source.path).may_include)) continue;
      const std::string to = folder_of(place);
      if (to == from) continue;
      folders[from].insert(to);
      drawn_by.emplace(std::pair(from, to), source.path + " includes " + include.name);
    }
  }
  for (const auto& cycle : CycleSearch(folders).run()) {
    std::vector<std::string> arrows;
    for (size_t i = 0; i + 1 < cycle.size(); ++i) arrows.push_back(drawn_by.at({cycle[i], cycle[i + 1]}));
    violations.push_back("folders in a cycle: " + joined(cycle, " -> ") + " (" + joined(arrows, "; ") + ")");
  }
}

constexpr size_t kMaxFilesInFolder = 40;

void check_folder_sizes(const std::vector<SourceFile>& sources, std::vector<std::string>& violations) {
  std::map<std::string, size_t> files;
  for (const SourceFile& source : sources) ++files[folder_of(source.path)];
  for (const auto& [folder, count] : files) {
    if (count > kMaxFilesInFolder) {
      violations.push_back(folder + " holds " + std::to_string(count) + " source files: at most " +
                           std::to_string(kMaxFilesInFolder));
    }
  }
}

}  // namespace

std::vector<std::string> find_violations(const fs::path& root) {
  std::vector<SourceFile> sources;
  std::vector<std::string> violations;
  for (const std::string& path : sources_below(root)) {
    if (lies_in(path, "include") && !public_headers().contains(path)) {
      violations.push_back(path + ": not in the list of public headers");
    } else {
      sources.push_back(read_source(root, path));
    }
  }

  std::set<std::string> folders_with_sources;
  for (const SourceFile& source : sources) {
    check_file(root, source, violations);
    if (!lies_in(source.path, "include")) {
      folders_with_sources.insert(source.path.substr(0, source.path.find('/')));
    }
  }
  check_headers(sources, violations);
  check_folders(sources, violations);
  check_folder_sizes(sources, violations);
  for (const std::string& folder : folders_with_sources) {
    if (!fs::exists(root / folder / "README.md")) violations.push_back(folder + ": no README.md");
  }
  return violations;
}

}  // namespace sextant::architecture
